// Writes the JSON Schemas of the bundle's channels and of SmolCUA's contracts, from the built JavaScript, to where people and the Python reader find them.
//   node scripts/schemas.mjs          (make schemas)
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { allSchemas } from "../dist/replay/index.js";
import { contractJsonSchema } from "../dist/smolcua/index.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const schemas = allSchemas();
mkdirSync(join(root, "docs/skn/schemas"), { recursive: true });
for (const [channel, schema] of Object.entries(schemas))
  writeFileSync(join(root, "docs/skn/schemas", `${channel}.json`), `${JSON.stringify(schema, null, 2)}\n`);
writeFileSync(join(root, "bindings/python/shinken_gym/_skn/schemas.json"), `${JSON.stringify(schemas)}\n`);
mkdirSync(join(root, "docs/smolcua"), { recursive: true });
writeFileSync(join(root, "docs/smolcua/contract.json"), `${JSON.stringify(contractJsonSchema(), null, 2)}\n`);
