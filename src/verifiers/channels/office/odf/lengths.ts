/** Lengths of OpenDocument, `1.5cm`, in the units of Office Open XML. */
const TWIPS: Readonly<Record<string, number>> = {
  in: 1_440,
  cm: 1_440 / 2.54,
  mm: 144 / 2.54,
  pt: 20,
  pc: 240,
  px: 15,
};
/** English Metric Units of a twentieth of a point. */
const EMU_PER_TWIP = 635;

/** Twentieths of a point, rounded; undefined for what is no length. */
export function twips(text: string | undefined): number | undefined {
  const exact = exactTwips(text);
  return exact === undefined ? undefined : Math.round(exact);
}

/** English Metric Units, 914,400 to the inch, rounded. */
export function emu(text: string | undefined): number | undefined {
  const exact = exactTwips(text);
  return exact === undefined ? undefined : Math.round(exact * EMU_PER_TWIP);
}

function exactTwips(text: string | undefined): number | undefined {
  const [, digits = "", unit = ""] = /^(-?\d{1,9}(?:\.\d{1,12})?)(in|cm|mm|pt|pc|px)$/.exec(text ?? "") ?? [];
  const factor = TWIPS[unit];
  return factor === undefined ? undefined : Number(digits) * factor;
}

/** A share such as `115%`, 1.15; undefined for what is none. */
export function percent(text: string | undefined): number | undefined {
  const [, digits] = /^(\d{1,6}(?:\.\d{1,6})?)%$/.exec(text ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits) / 100;
}
