// Generates pictures of QR codes with distortions of photographs: rotation, perspective, bending, noise, low contrast, inversion. The package `qr` makes the codes; the product reads them with other code.
import { pngOf } from '@palisade/scam/test/pictures';
import encodeQR from 'qr';
import { seeded } from './scam-look-alikes.ts';

const TROUBLES = ['turned', 'from_the_side', 'bent', 'noisy', 'low_contrast', 'inverted', 'all'] as const;
export type Trouble = (typeof TROUBLES)[number];

export interface CodePicture {
  text: string;
  trouble: Trouble;
  picture: Uint8Array;
}

const SIZE = 420;
const MARGIN = 4;

/** Maps a pixel of the picture to a position in the code (0 to 1). */
function place(
  x: number,
  y: number,
  has: (one: Trouble) => boolean,
  { amount, part }: { amount: number; part: number },
): { u: number; v: number } {
  let [u, v] = [x / SIZE - 0.5, y / SIZE - 0.5];
  // Leaves a white margin.
  [u, v] = [u * 1.35, v * 1.35];
  if (has('turned')) {
    const angle = (amount - 0.5) * 1.2;
    [u, v] = [u * Math.cos(angle) - v * Math.sin(angle), u * Math.sin(angle) + v * Math.cos(angle)];
  }
  if (has('from_the_side')) {
    const depth = 1 + u * (0.2 + amount * 0.25) * part;
    [u, v] = [u / depth, v / depth];
  }
  // Paper around a bottle: compressed towards the edges, and curved by up to one module when seen from above.
  if (has('bent')) {
    const reach = (0.9 + amount * 0.7) * part;
    u = 0.7 * u + 0.3 * (Math.tan(u * reach) / reach);
    v += (0.005 + amount * 0.02) * part * Math.cos(u * Math.PI);
  }
  return { u: u + 0.5, v: v + 0.5 };
}

function draw(text: string, trouble: Trouble, random: () => number): Uint8Array {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: MARGIN });
  const count = modules.length;
  const amount = random();
  // With all distortions together, each has half its strength.
  const strength = { amount, part: trouble === 'all' ? 0.5 : 1 };
  const has = (one: Trouble) => trouble === one || (trouble === 'all' && one !== 'inverted' && one !== 'all');
  const [dark, light] = has('low_contrast') ? [95, 95 + 45 + amount * 40] : [20, 235];
  const noise = has('noisy') ? (trouble === 'all' ? 25 : 60) : 4;
  const pixels = new Uint8Array(SIZE * SIZE);
  for (let y = 0; y < SIZE; y += 1)
    for (let x = 0; x < SIZE; x += 1) {
      // Four samples per pixel, to blur edges like a lens.
      let sum = 0;
      for (const [dx, dy] of [
        [0, 0],
        [0.5, 0],
        [0, 0.5],
        [0.5, 0.5],
      ] as const) {
        const { u, v } = place(x + dx, y + dy, has, strength);
        const isDark = modules[Math.floor(v * count)]?.[Math.floor(u * count)] === true;
        sum += isDark ? dark : light;
      }
      const value = sum / 4 + (random() - 0.5) * 2 * noise;
      const shown = Math.max(0, Math.min(255, value));
      pixels[y * SIZE + x] = trouble === 'inverted' ? 255 - shown : shown;
    }
  return pngOf(pixels, SIZE, SIZE);
}

const CONTENTS: readonly ((number: number) => string)[] = [
  (number) => `https://park-now-${number}.example/pay?zone=${number}`,
  (number) => `BCD\n002\n1\nSCT\n\nStadtwerke Muster\nDE89370400440532013000\nEUR${number}.50\n\n\nRechnung ${number}`,
  (number) => `WIFI:S:Cafe ${number};T:WPA;P:coffee${number};;`,
  (number) => `BEGIN:VCARD\nVERSION:3.0\nFN:Ada ${number}\nTEL:+441632960${100 + (number % 900)}\nEND:VCARD`,
  (number) => `tel:+44163296${1000 + number}`,
];

/** Yields `count` pictures, cycling through the distortions. Each picture is drawn on demand. */
export function* codePictures(count: number): Generator<CodePicture> {
  const random = seeded(500);
  for (let number = 0; number < count; number += 1) {
    const trouble = TROUBLES[number % TROUBLES.length] ?? 'turned';
    const text = CONTENTS[number % CONTENTS.length]?.(number) ?? '';
    yield { text, trouble, picture: draw(text, trouble, random) };
  }
}

/** A large white picture with a code in the centre. */
export function largePicture(text: string, width: number, height: number, channels: 1 | 3 | 4): Uint8Array {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: MARGIN });
  const module = Math.floor(Math.min(width, height) / 4 / modules.length);
  const [left, top] = [(width - module * modules.length) >> 1, (height - module * modules.length) >> 1];
  const pixels = new Uint8Array(width * height * channels).fill(255);
  for (const [row, cells] of modules.entries())
    for (const [column, isDark] of cells.entries()) {
      if (!isDark) continue;
      for (let y = 0; y < module; y += 1) {
        const at = ((top + row * module + y) * width + left + column * module) * channels;
        pixels.fill(0, at, at + module * channels);
      }
    }
  return pngOf(pixels, width, height, channels);
}
