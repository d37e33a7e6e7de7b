/** Every released version of the schema, as steps from the one before. */
import { version1 } from "./v1.js";
import { version2 } from "./v2.js";

/** Index 0 makes version 1 of an empty file, and so on. Steps are only ever added. */
export const migrations: readonly string[] = [version1, version2];

export const schemaVersion = migrations.length;

/** "SkRn" in the header of the file: what other programs tell our stores by. */
export const applicationId = 0x536b526e;
