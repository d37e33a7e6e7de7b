/**
 * Whether a name matches a pattern of one path segment: `*` any characters, `?` one, `[abc]`, `[a-z]`, `[!a]` one of a
 * set. A leading dot is a letter as any other: a file is not hidden from a grader by its name. Linear in the name for each star (no backtracking over stars).
 */
export function matchesWildcard(pattern: string, name: string): boolean {
  const tokens = tokenise(pattern);
  const letters = Array.from(name);
  let token = 0;
  let letter = 0;
  let star = -1;
  let resume = 0;
  while (letter < letters.length) {
    const current = tokens[token];
    if (current === "*") {
      star = token++;
      resume = letter;
    } else if (current?.(letters[letter] ?? "") === true) {
      token++;
      letter++;
    } else if (star !== -1) {
      token = star + 1;
      letter = ++resume;
    } else {
      return false;
    }
  }
  while (tokens[token] === "*") token++;
  return token === tokens.length;
}

type Token = "*" | ((letter: string) => boolean);

function tokenise(pattern: string): Token[] {
  const letters = Array.from(pattern);
  const tokens: Token[] = [];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? "";
    const close = letter === "[" ? letters.indexOf("]", at + 2) : -1;
    if (letter === "*") tokens.push("*");
    else if (letter === "?") tokens.push(() => true);
    else if (close !== -1) {
      tokens.push(oneOf(letters.slice(at + 1, close)));
      at = close;
    } else tokens.push((seen) => seen === letter);
  }
  return tokens;
}

function oneOf(letters: string[]): (letter: string) => boolean {
  const negated = letters[0] === "!" || letters[0] === "^";
  const body = negated ? letters.slice(1) : letters;
  return (seen) => {
    for (let at = 0; at < body.length; at++) {
      const low = body[at] ?? "";
      const isRange = body[at + 1] === "-" && at + 2 < body.length;
      const high = isRange ? (body[at + 2] ?? "") : low;
      if (isRange) at += 2;
      if (seen >= low && seen <= high) return !negated;
    }
    return negated;
  };
}
