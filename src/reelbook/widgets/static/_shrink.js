// Makes large photographs smaller before they are sent: redrawn upright. The other parts of a file go with it, so that
// Python can name them.
import { h } from "./_dom.js";

const SEGMENT = 20 * 1024;
const ALL_SEGMENTS = 40 * 1024;

/** A large picture redrawn with its longer side at most `side`; null if the file can be sent as it is. */
export async function shrink(file, side) {
  const kind = kindOf(new Uint8Array(await file.slice(0, 16).arrayBuffer()));
  const segments = kind ? await SEGMENTS_OF[kind](file) : null;
  if (!segments) return null;
  const bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
  const { width, height } = bitmap;
  const factor = Math.min(1, side / Math.max(width, height));
  if (factor === 1 && kind !== "HEIC") return null;
  const scaled = (length) => Math.max(1, Math.round(length * factor));
  const canvas = h("canvas", { width: scaled(width), height: scaled(height) });
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const clear = kind !== "JPEG" && seeThrough(pen.getImageData(0, 0, canvas.width, canvas.height).data);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, clear ? "image/png" : "image/jpeg", 0.92));
  canvas.width = canvas.height = 0; // or some browsers keep the pixels
  if (!blob) return null;
  const kept = [];
  let room = ALL_SEGMENTS;
  for (const one of segments) {
    if (one[1].byteLength > room) continue;
    room -= one[1].byteLength;
    kept.push(one);
  }
  const made = { kind, width, height, segments: kept.map(([name]) => name) };
  return { blob, segments: kept.map(([, bytes]) => bytes), made };
}

function seeThrough(pixels) {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] < 255) return true;
  return false;
}

function kindOf(head) {
  const text = String.fromCharCode(...head);
  if (text.startsWith("\xff\xd8\xff")) return "JPEG";
  if (text.startsWith("\x89PNG")) return "PNG";
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "WebP";
  // Some browsers can read these; Python can't.
  return /^....ftyp(hei|hev|mif1)/s.test(text) ? "HEIC" : "";
}

const name4 = (bytes, at) => String.fromCharCode(...bytes.subarray(at, at + 4));
const cut = (bytes, from, length) => bytes.slice(from, from + Math.min(length, SEGMENT)).buffer;

/**
 * The parts of a file other than the picture, as [name, bytes], so that Python can say what was removed. Null if the
 * file is to be sent as it is, because only Python is sure to turn it upright.
 */
const SEGMENTS_OF = {
  HEIC: async () => [["HEIC", new ArrayBuffer(0)]],
  async JPEG(file) {
    const bytes = new Uint8Array(await file.slice(0, 4 << 20).arrayBuffer());
    const found = [];
    for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda;) {
      const length = bytes[at + 2] * 256 + bytes[at + 3];
      const name = bytes[at + 1].toString(16);
      if (["e1", "e2", "ed", "fe"].includes(name)) found.push([name, cut(bytes, at + 4, length - 2)]);
      at += 2 + length;
    }
    return found;
  },
  async PNG(file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const view = new DataView(bytes.buffer);
    const found = [];
    for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at)) {
      const name = name4(bytes, at + 4);
      if (name === "eXIf" || name === "acTL") return null;
      if (["tEXt", "zTXt", "iTXt"].includes(name)) found.push([name, cut(bytes, at + 8, view.getUint32(at))]);
    }
    return found;
  },
  async WebP(file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const view = new DataView(bytes.buffer);
    const found = [];
    for (let at = 12; at + 8 <= bytes.length;) {
      const [name, length] = [name4(bytes, at), view.getUint32(at + 4, true)];
      if (name === "EXIF" || name === "ANIM") return null;
      if (name === "XMP ") found.push([name, cut(bytes, at + 8, length)]);
      at += 8 + length + (length % 2);
    }
    return found;
  },
};
