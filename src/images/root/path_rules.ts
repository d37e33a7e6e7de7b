export interface PathRule {
  keep: boolean;
  pattern: string;
}

/** dpkg's patterns: `*` and `?` match a slash too; there are no others in our rules. */
function toRegExp(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
}

/** Whether a path (absolute) stays out; the last rule that matches decides, as in dpkg(1), `--path-exclude`. */
export function pathFilter(rules: readonly PathRule[]): (path: string) => boolean {
  const compiled = rules.map((rule) => ({ keep: rule.keep, pattern: toRegExp(rule.pattern) }));
  return (path) => {
    let excluded = false;
    for (const rule of compiled) if (rule.pattern.test(path)) excluded = !rule.keep;
    return excluded;
  };
}

/** The same rules for the image's own dpkg, so that a package installed later is treated alike. */
export function dpkgConfiguration(rules: readonly PathRule[]): string {
  return rules.map((rule) => `path-${rule.keep ? "include" : "exclude"}=${rule.pattern}\n`).join("");
}
