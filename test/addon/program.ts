/** Tiny RISC-V programs, assembled here: a test needs no compiler for the guest. */

const A0 = 10;
const A1 = 11;
const A6 = 16;
const A7 = 17;
const T0 = 5;

const addi = (rd: number, rs: number, value: number): number =>
  (((value & 0xfff) << 20) | (rs << 15) | (rd << 7) | 0x13) >>> 0;
const lui = (rd: number, upper: number): number => (((upper << 12) >>> 0) | (rd << 7) | 0x37) >>> 0;
const ECALL = 0x00000073;
/** Jump to itself. */
const LOOP = 0x0000006f;
const WFI = 0x10500073;

/** Loads a 32-bit constant that fits into lui + addi. */
function load(rd: number, value: number): number[] {
  const upper = ((value + 0x800) >>> 12) & 0xfffff;
  return [lui(rd, upper), addi(rd, rd, value & 0xfff)];
}

function binary(words: number[]): Uint8Array {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  words.forEach((word, i) => {
    view.setUint32(i * 4, word, true);
  });
  return bytes;
}

const SRST = 0x53525354;

/** Resets through SBI: `reason` 0 is a wanted end, 1 a system failure. */
export function resetProgram(reason: 0 | 1): Uint8Array {
  return binary([addi(A0, 0, 0), addi(A1, 0, reason), addi(A6, 0, 0), ...load(A7, SRST), ECALL, LOOP]);
}

/** Writes each byte with the legacy console call, then resets. */
export function printProgram(text: string): Uint8Array {
  const words: number[] = [];
  for (const byte of Buffer.from(text)) words.push(addi(A0, 0, byte), addi(A6, 0, 0), addi(A7, 0, 1), ECALL);
  words.push(addi(A0, 0, 0), addi(A1, 0, 0), addi(A6, 0, 0), ...load(A7, SRST), ECALL, LOOP);
  return binary(words);
}

/** Counts for ever. */
export function endlessProgram(): Uint8Array {
  return binary([addi(T0, T0, 1), 0xffdff06f >>> 0]);
}

/** Waits for an interrupt that never comes. */
export function waitingProgram(): Uint8Array {
  return binary([WFI, LOOP]);
}

/** Writes one word into page after page of what lies behind it, three instructions a page. */
export function writingProgram(): Uint8Array {
  const T1 = 6;
  const auipc = (rd: number, upper: number): number => (((upper << 12) >>> 0) | (rd << 7) | 0x17) >>> 0;
  const lui4096 = lui(T1, 1);
  const add = (rd: number, a: number, b: number): number => ((b << 20) | (a << 15) | (rd << 7) | 0x33) >>> 0;
  const sw = (from: number, to: number): number => ((from << 20) | (to << 15) | (2 << 12) | 0x23) >>> 0;
  const jumpBack = 0xff9ff06f; // jal x0, -8
  return binary([auipc(T0, 1), lui4096, sw(T1, T0), add(T0, T0, T1), jumpBack]);
}
