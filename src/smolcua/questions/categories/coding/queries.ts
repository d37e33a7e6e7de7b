/** What queries and regular expressions find. */
import { crossed } from "../../crossed.js";
import type { Candidate, Scenario } from "../../types.js";
import { cities, people, plainWords } from "../../words.js";

const listed = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((row) => `(${row.join(", ")})`).join(", ");

const counts = (rows: number, counted: number): Candidate => ({
  text: `${rows} and ${counted}`,
  values: [String(rows), String(counted)],
});

/** A left join keeps rows without partner, with NULL for what is missing, which COUNT of a column leaves out. */
export const sqlJoin: Scenario = {
  name: "sql-join",
  draw(random) {
    const customers = random.some(people, random.between(3, 5)).map((name, at) => ({ id: at + 1, name }));
    const orders = Array.from({ length: random.between(3, 6) }, (_, at) => ({
      id: 11 + at,
      // Some orders are of customers that are not in the table.
      customer: random.between(1, customers.length + 2),
    }));
    const matches = orders.filter(({ customer }) => customer <= customers.length).length;
    const lone = customers.filter(({ id }) => orders.every(({ customer }) => customer !== id)).length;
    const orphans = orders.length - matches;
    const keep = random.pick(["customers", "orders", "none"] as const);
    const [left, right] = random.chance(0.5) ? ["customers c", "orders o"] : ["orders o", "customers c"];
    const first = left.startsWith("customers");
    const join =
      keep === "none" ? "INNER JOIN" : (keep === "customers") === first ? "LEFT JOIN" : "RIGHT JOIN";
    const column = random.pick(["c.id", "o.id"] as const);
    const kept = keep === "none" ? 0 : keep === "customers" ? lone : orphans;
    const rows = matches + kept;
    const ofKept = (keep === "customers") === (column === "c.id");
    const counted = matches + (ofKept ? kept : 0);
    const rowsSlip =
      keep === "none" ? matches + random.pick([lone, orphans]) : matches + lone + orphans - kept;
    const countedSlip =
      ofKept && keep !== "none" ? matches : random.pick([rows, matches + lone, matches + orphans]);
    return {
      situation: `An SQL database has the table customers (id, name) with the rows ${listed(customers.map(({ id, name }) => [id, name]))} and the table orders (id, customer_id) with the rows ${listed(orders.map(({ id, customer }) => [id, customer]))}. This query is run:\n  SELECT COUNT(*), COUNT(${column}) FROM ${left} ${join} ${right} ON o.customer_id = c.id`,
      question: "Which two counts does it give?",
      fields: ["all_rows", "column_count"],
      ...crossed(counts, [rows, rowsSlip], [counted, countedSlip]),
    };
  },
};

/** A comparison with NULL is not true, whichever it is. */
export const sqlNull: Scenario = {
  name: "sql-null",
  draw(random) {
    const [wanted = "", other = ""] = random.some(cities, 2);
    const rows = Array.from({ length: random.between(6, 9) }, (_, at) => ({
      id: at + 1,
      city: random.pick([wanted, other, null]),
      age: random.chance(0.35) ? null : random.between(20, 60),
    }));
    const unequal = random.chance(0.5);
    const limit = random.between(30, 50);
    const below = random.chance(0.5);
    const inCity = (city: string | null, nulls: boolean) =>
      city === null ? nulls : unequal ? city !== wanted : city === wanted;
    const inAge = (age: number | null, nulls: boolean) =>
      age === null ? nulls : below ? age < limit : age >= limit;
    const cityCount = (nulls: boolean) => rows.filter(({ city }) => inCity(city, nulls)).length;
    const ageCount = (nulls: boolean) => rows.filter(({ age }) => inAge(age, nulls)).length;
    const nullsToo = random.chance(0.5);
    const aware = random.chance(0.5);
    return {
      situation: `An SQL table visits (id, city, age) has the rows ${listed(
        rows.map(({ id, city, age }) => [id, city === null ? "NULL" : `'${city}'`, age ?? "NULL"]),
      )}. Two queries are run:\n  SELECT COUNT(*) FROM visits WHERE city ${unequal ? "<>" : "="} '${wanted}'${nullsToo ? " OR city IS NULL" : ""}\n  SELECT COUNT(*) FROM visits WHERE age ${below ? "<" : ">="} ${limit}${aware ? " OR age IS NULL" : ""}`,
      question: "Which count does each of the queries give?",
      fields: ["first_count", "second_count"],
      ...crossed(counts, [cityCount(nullsToo), cityCount(!nullsToo)], [ageCount(aware), ageCount(!aware)]),
    };
  },
};

const brackets = [
  ["[", "]", "\\[", "\\]"],
  ["(", ")", "\\(", "\\)"],
  ["<", ">", "<", ">"],
  ["{", "}", "\\{", "\\}"],
  ["/", "/", "/", "/"],
  ["'", "'", "'", "'"],
] as const;

/** `+` takes as much as it can, `+?` as little. */
export const greedyMatch: Scenario = {
  name: "greedy-match",
  draw(random) {
    const [open, close, openCode, closeCode] = random.pick(brackets);
    const [a = "", b = "", c = "", d = ""] = random.some(plainWords, 4);
    const text = `${a} ${open}${b}${close} ${c} ${open}${d}${close}${random.pick(["", " end", "."])}`;
    const greedy = random.chance(0.5);
    const pattern = (whole: boolean) => `${openCode}.+${whole ? "" : "?"}${closeCode}`;
    const found = (whole: boolean) => new RegExp(pattern(whole)).exec(text);
    const right = found(greedy)?.[0] ?? "";
    const slip = found(!greedy)?.[0] ?? "";
    const base = random.pick([0, 1]);
    const place = (found(greedy)?.index ?? 0) + base;
    const option = (match: string, at: number): Candidate => ({
      text: `${match} at ${at}`,
      values: [match, String(at)],
    });
    return {
      situation: `The regular expression ${pattern(greedy)} is searched for in this line; a dot stands for any character, +${greedy ? " takes as many as it can" : "? takes as few as it can"}. Places are counted from ${base} for the line's first character.\n  ${text}`,
      question: "Which text is the first match, and at which place does it begin?",
      fields: ["match", "place"],
      ...crossed(option, [right, slip], [place, place + random.pick([1, -1])]),
    };
  },
};
