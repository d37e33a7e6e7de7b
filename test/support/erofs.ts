/** A writer of small erofs file systems, for images that a test makes up: plain files and folders, owned by root. */

const block = 4096;
const inodeBytes = 32;
const superblockAt = 1024;
const magic = 0xe0f5e1e2;
const direntBytes = 12;
const folderMode = 0o040000;
const fileMode = 0o100000;

export interface ErofsFile {
  data: Uint8Array | string;
  mode?: number;
}

interface Node {
  folder: boolean;
  mode: number;
  data: Uint8Array;
  children: Map<string, Node>;
  /** Number of the inode: its place in the table. */
  nid: number;
}

const node = (folder: boolean, mode: number, data: Uint8Array): Node => ({
  folder,
  mode,
  data,
  children: new Map(),
  nid: 0,
});

/** The tree of the files; a path that ends in `/` is an empty folder. All nodes in the order of their inodes. */
function tree(files: Readonly<Record<string, ErofsFile>>): Node[] {
  const root = node(true, folderMode | 0o755, Buffer.alloc(0));
  const nodes = [root];
  const add = (parent: Node, name: string, child: Node): Node => {
    const known = parent.children.get(name);
    if (known !== undefined) return known;
    child.nid = nodes.length;
    parent.children.set(name, child);
    nodes.push(child);
    return child;
  };
  for (const [path, { data, mode }] of Object.entries(files)) {
    const parts = path.split("/");
    const name = parts.pop() ?? "";
    let parent = root;
    for (const part of parts) parent = add(parent, part, node(true, folderMode | 0o755, Buffer.alloc(0)));
    if (name === "") parent.mode = folderMode | (mode ?? 0o755);
    else add(parent, name, node(false, fileMode | (mode ?? 0o644), Buffer.from(data)));
  }
  return nodes;
}

/** A folder's block: entries sorted by name, each {inode, where its name begins, kind}, then the names. */
function folderBlock(self: Node, parent: Node): Buffer {
  const entries = [[".", self], ["..", parent], ...self.children].map(([name, to]) => ({
    name: Buffer.from(name as string),
    to: to as Node,
  }));
  entries.sort((a, b) => Buffer.compare(a.name, b.name));
  const names = Buffer.concat(entries.map((entry) => entry.name));
  const table = Buffer.alloc(entries.length * direntBytes);
  let nameAt = table.length;
  entries.forEach(({ name, to }, index) => {
    const at = index * direntBytes;
    table.writeBigUInt64LE(BigInt(to.nid), at);
    table.writeUInt16LE(nameAt, at + 8);
    table.writeUInt8(to.folder ? 2 : 1, at + 10);
    nameAt += name.length;
  });
  const whole = Buffer.concat([table, names]);
  if (whole.length > block) throw new Error("a folder takes more than a block");
  return whole;
}

/** The bytes of a file system that holds the files (paths without a leading slash). */
export function erofs(files: Readonly<Record<string, ErofsFile>>): Buffer {
  const nodes = tree(files);
  const parents = new Map<Node, Node>();
  for (const parent of nodes) for (const child of parent.children.values()) parents.set(child, parent);
  for (const each of nodes) if (each.folder) each.data = folderBlock(each, parents.get(each) ?? each);
  const inodes = Buffer.alloc(Math.ceil((nodes.length * inodeBytes) / block) * block);
  const pieces: Buffer[] = [];
  let next = 1 + inodes.length / block;
  for (const { nid, mode, folder, data, children } of nodes) {
    const at = nid * inodeBytes;
    const folders = [...children.values()].filter((child) => child.folder).length;
    inodes.writeUInt16LE(mode, at + 4);
    inodes.writeUInt16LE(folder ? 2 + folders : 1, at + 6);
    inodes.writeUInt32LE(data.length, at + 8);
    inodes.writeUInt32LE(next, at + 16);
    inodes.writeUInt32LE(nid + 1, at + 20);
    const padded = Buffer.alloc(Math.ceil(data.length / block) * block);
    padded.set(data);
    pieces.push(padded);
    next += padded.length / block;
  }
  const first = Buffer.alloc(block);
  first.writeUInt32LE(magic, superblockAt);
  first.writeUInt8(Math.log2(block), superblockAt + 12);
  first.writeUInt16LE(0, superblockAt + 14); // the root's inode
  first.writeBigUInt64LE(BigInt(nodes.length), superblockAt + 16);
  first.writeUInt32LE(next, superblockAt + 36);
  first.writeUInt32LE(1, superblockAt + 40); // where the inodes begin
  return Buffer.concat([first, inodes, ...pieces]);
}
