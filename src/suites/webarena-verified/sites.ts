/** Where the sites of the benchmark stood during a run: placeholders such as `__GITLAB__` for addresses, and back. */
import { parseUrl } from "../python/urls.js";

export const siteNames = [
  "gitlab",
  "map",
  "reddit",
  "shopping_admin",
  "shopping",
  "wikipedia",
  "homepage",
] as const;
export type SiteName = (typeof siteNames)[number];

/** Addresses of each site, the one in use first. */
export type SiteUrls = Partial<Record<SiteName, readonly string[]>>;

export const placeholder = (site: SiteName): string => `__${site.toUpperCase()}__`;

/** The sites of one task, at their addresses. */
export class Sites {
  readonly #sites: readonly (readonly [site: SiteName, urls: readonly string[]])[];
  /** Those with longer addresses first: one may be the beginning of another. */
  readonly #bySpecificity: readonly (readonly [site: SiteName, urls: readonly string[]])[];

  constructor(names: readonly SiteName[], urls: SiteUrls) {
    this.#sites = names.map((name) => [name, urls[name] ?? []] as const);
    const longest = (list: readonly string[]): number => Math.max(0, ...list.map((url) => url.length));
    this.#bySpecificity = [...this.#sites].sort((a, b) => longest(b[1]) - longest(a[1]));
  }

  /** A template with its site's address; undefined if no site of the task is meant. */
  render(template: string): string | undefined {
    for (const [site, [url]] of this.#sites) {
      if (url !== undefined && template.startsWith(placeholder(site))) {
        return template.replaceAll(placeholder(site), () => url);
      }
    }
    return undefined;
  }

  /** A text with the placeholder for its site's address; undefined if it holds none. */
  derender(text: string): string | undefined {
    for (const [site, urls] of this.#bySpecificity) {
      for (const url of urls) {
        if (text.includes(url)) return text.replaceAll(url.replace(/\/+$/, ""), placeholder(site));
      }
    }
    return undefined;
  }
}

/**
 * The best guess where nobody says where the sites were: the first request is the first site's, and so on. It is a guess:
 * a run that began at another address gets a wrong verdict.
 */
export function guessSites(names: readonly SiteName[], requests: readonly string[]): SiteUrls {
  const guessed: SiteUrls = {};
  for (const [index, name] of names.entries()) {
    const url = parseUrl(requests[Math.min(index, requests.length - 1)] ?? "").value;
    if (url === undefined || url.netloc === "") continue;
    guessed[name] = [`${url.scheme}://${url.netloc}${name === "shopping_admin" ? "/admin" : ""}`];
  }
  return guessed;
}
