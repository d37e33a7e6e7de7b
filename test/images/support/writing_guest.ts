import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { archivePath } from "../../../src/images/apt/resolve.js";
import { cacheLayout } from "../../../src/images/cache/folder.js";
import { readData } from "../../../src/images/deb/package.js";
import { readManifest } from "../../../src/images/manifest.js";
import { lockedSet } from "../../../src/images/packages.js";
import { CpioWriter } from "../../../src/images/root/cpio.js";
import type { FinishingBoot, ImageInfo } from "../../../src/images/types.js";
import { runFinishingBoot } from "../../../src/sandbox/microvm/program.js";

/** Fills the disk as mkfs.erofs would, and believes that all went well: its cache holds what the disk does not. */
const script = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev
for module in virtio_mmio virtio_blk; do $b insmod /modules/$module.ko; done
$b tr '\\\\0' x < /dev/zero | $b dd of=/dev/vda bs=4096 count=256 iflag=fullblock
$b sync
sum=$($b dd if=/dev/vda bs=4096 count=1 2> /dev/null | $b sha256sum)
echo "@finish done \${sum%% *} @1.0"
$b poweroff -f
`;

/** The file of busybox that the image was made with, or undefined if it is no longer in the cache. */
function busyboxDeb(image: ImageInfo): string | undefined {
  const record = lockedSet(readManifest(image.manifest)).tools.find(({ name }) => name === "busybox-static");
  const archives = join(cacheLayout(undefined).debian, "archives");
  const file = record === undefined ? undefined : archivePath(archives, record);
  return file !== undefined && existsSync(file) ? file : undefined;
}

/**
 * A finishing boot that does boot: the image's kernel on a real machine, which writes a mebibyte to its disk and
 * reports that it has finished. `folder` is for its initial root. Undefined if the cache lacks what it needs.
 */
export async function writingGuest(image: ImageInfo, folder: string): Promise<FinishingBoot | undefined> {
  const deb = busyboxDeb(image);
  if (deb === undefined) return undefined;
  // Linux unpacks archives that stand one after the other; the first gives the modules.
  const pieces: Buffer[] = [readFileSync(image.initrd)];
  const cpio = new CpioWriter((piece) => {
    pieces.push(Buffer.from(piece));
    return Promise.resolve();
  });
  const owner = { uid: 0, gid: 0, mtime: 0, mode: 0o755 };
  await cpio.add({ ...owner, path: "bin", type: "directory" });
  for await (const entry of readData(deb)) {
    if (entry.name === "./usr/bin/busybox" && entry.type === "file")
      await cpio.add({ ...owner, path: "bin/busybox", type: "file", data: entry.data });
  }
  await cpio.add({ ...owner, path: "script", type: "file", data: Buffer.from(script) });
  await cpio.finish();
  const initrd = join(folder, "writing-guest.cpio");
  writeFileSync(initrd, Buffer.concat(pieces));
  const append = `${image.appendBase} rdinit=/script`;
  return (boot) => runFinishingBoot({ ...boot, kernel: image.kernel, initrd, append, memoryMiB: 256 });
}
