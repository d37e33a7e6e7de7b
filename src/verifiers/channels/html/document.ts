/** HTML to a tree, by the parser of the standard (parse5): whatever the bytes, a browser would see the same. */
import type { Document } from "domhandler";
import { parse } from "parse5";
import { adapter } from "parse5-htmlparser2-tree-adapter";
import { ContentFault } from "../../value.js";
import { NODE_LIMIT, refuseDeep } from "../selector.js";

/** Throws `ContentFault` for a document with too many nodes, or too deep. */
export function parseHtmlDocument(text: string, what: string): Document {
  let nodes = 0;
  // Misnested formatting elements are repeated in every paragraph after them: a small file may mean a very large tree.
  const count = (): void => {
    if (++nodes > NODE_LIMIT) throw new ContentFault(`${what} has more than ${NODE_LIMIT} nodes`);
  };
  const document = parse(text, {
    treeAdapter: {
      ...adapter,
      createElement: (...words) => {
        count();
        return adapter.createElement(...words);
      },
      createTextNode: (value) => {
        count();
        return adapter.createTextNode(value);
      },
      createCommentNode: (data) => {
        count();
        return adapter.createCommentNode(data);
      },
      insertText: (parent, value) => {
        count();
        adapter.insertText(parent, value);
      },
      insertTextBefore: (parent, value, reference) => {
        count();
        adapter.insertTextBefore(parent, value, reference);
      },
    },
  });
  refuseDeep(document, what);
  return document;
}
