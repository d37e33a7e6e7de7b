/** The part of pdf.js that is used; its package's types resolve to nothing outside a bundler. */
export interface PdfPage {
  getTextContent(): Promise<{ items: ({ str: string; hasEOL: boolean } | { type: string })[] }>;
  cleanup(): void;
}

export interface PdfDocument {
  numPages: number;
  getPage(number: number): Promise<PdfPage>;
  getMetadata(): Promise<{ info: Record<string, unknown> }>;
  /** Widgets by the full name of their field. */
  getFieldObjects(): Promise<Record<string, { value?: unknown; type?: string }[]> | null>;
}

export interface PdfTask {
  promise: Promise<PdfDocument>;
  destroy(): Promise<void>;
}

interface Library {
  VerbosityLevel: { ERRORS: number };
  getDocument(options: Record<string, unknown>): PdfTask;
}

/** Loads the library, which a thread does once. */
export async function loadPdfLibrary(): Promise<Library> {
  return (await import("unpdf/pdfjs")) as unknown as Library;
}
