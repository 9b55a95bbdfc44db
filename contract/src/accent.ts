// Shades of a provider's accent color, with the contrast that WCAG 2.2 requires (1.4.3 and 1.4.11).

/** The colors of one scheme that derive from the accent: text and buttons, text on the accent, and a tint for backgrounds. */
interface Shades {
  accent: string;
  ink: string;
  soft: string;
}

export type Scheme = 'dark' | 'light';

/** Backgrounds of each scheme behind accent text and focus rings, as in web/src/app/tokens.css. The tint is mixed into the second one. */
export const SURFACES: Record<Scheme, readonly [string, string, ...string[]]> = {
  dark: ['#0a111d', '#101a2a', '#162338', '#0c1524'],
  light: ['#f3f6fa', '#ffffff'],
};

/** Minimum contrast of text (WCAG 1.4.3). It also satisfies focus rings, which need 3. */
export const CONTRAST_LEAST = 4.5;
/** Share of the accent in its tint. */
const SOFT_SHARE = 0.1;
const STEP = 0.005;
const DARK_INK = 0.07;

type Rgb = readonly [number, number, number];

const channel = (text: string) => Number.parseInt(text, 16) / 255;
const rgbOf = (hex: string): Rgb => [channel(hex.slice(1, 3)), channel(hex.slice(3, 5)), channel(hex.slice(5, 7))];
const digitsOf = (value: number) =>
  Math.round(Math.min(1, Math.max(0, value)) * 255)
    .toString(16)
    .padStart(2, '0');
const hexOf = (rgb: Rgb) => `#${rgb.map(digitsOf).join('')}`;

/** Converts a typed color (`#abc`, `0B7A6B`) to `#` and six lower-case digits; undefined for anything else. */
export function colorOf(text: string): string | undefined {
  const digits = /^\s*#?([\da-f]{3}|[\da-f]{6})\s*$/iu.exec(text)?.[1]?.toLowerCase();
  if (digits === undefined) return undefined;
  return `#${digits.length === 3 ? digits.replaceAll(/./gu, '$&$&') : digits}`;
}

/** Relative luminance (WCAG 2.2) of a color with channels from 0 to 1. */
export function luminanceOf(rgb: Rgb): number {
  const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}

/** Contrast of two luminances, 1 to 21. */
export const contrastOf = (one: number, other: number) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);

/** Contrast of two colors in six digits, 1 to 21. */
export const contrast = (one: string, other: string) => contrastOf(luminanceOf(rgbOf(one)), luminanceOf(rgbOf(other)));

/** Hue in degrees, saturation and lightness from 0 to 1. */
function hslOf(hex: string): Rgb {
  const [red, green, blue] = rgbOf(hex);
  const high = Math.max(red, green, blue);
  const span = high - Math.min(red, green, blue);
  const lightness = high - span / 2;
  if (span === 0) return [0, 0, lightness];
  const saturation = span / (1 - Math.abs(2 * lightness - 1));
  if (high === red) return [60 * ((green - blue) / span + 6), saturation, lightness];
  return [60 * (high === green ? (blue - red) / span + 2 : (red - green) / span + 4), saturation, lightness];
}

function withLightness([hue, saturation]: Rgb, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const at = (offset: number) => {
    const turn = (offset + hue / 30) % 12;
    return lightness - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1));
  };
  return hexOf([at(0), at(8), at(4)]);
}

function mix(over: string, under: string, share: number): string {
  const [first, second] = [rgbOf(over), rgbOf(under)];
  const part = (index: 0 | 1 | 2) => first[index] * share + second[index] * (1 - share);
  return hexOf([part(0), part(1), part(2)]);
}

function inkOf(accent: string, hsl: Rgb, scheme: Scheme): string {
  if (scheme === 'light') return '#ffffff';
  const tint = withLightness(hsl, DARK_INK);
  return contrast(tint, accent) >= CONTRAST_LEAST ? tint : '#000000';
}

function shadesAt(hsl: Rgb, lightness: number, scheme: Scheme): Shades {
  const accent = withLightness(hsl, lightness);
  return { accent, ink: inkOf(accent, hsl, scheme), soft: mix(accent, SURFACES[scheme][1], SOFT_SHARE) };
}

function isReadable({ accent, ink, soft }: Shades, scheme: Scheme): boolean {
  return [ink, soft, ...SURFACES[scheme]].every((color) => contrast(accent, color) >= CONTRAST_LEAST);
}

/** The shades nearest to a color (six digits) with enough contrast on every background of a scheme: same hue, lighter in dark, darker in light. */
export function shadesOf(color: string, scheme: Scheme): Shades {
  const hsl = hslOf(color);
  const way = scheme === 'dark' ? STEP : -STEP;
  const steps = (scheme === 'dark' ? 1 - hsl[2] : hsl[2]) / STEP;
  for (let step = 0; step < steps; step += 1) {
    const shades = shadesAt(hsl, hsl[2] + step * way, scheme);
    if (isReadable(shades, scheme)) return shades;
  }
  // White or black always has enough contrast.
  return shadesAt(hsl, scheme === 'dark' ? 1 : 0, scheme);
}

/** The custom properties of tokens.css that derive from the accent, in one scheme. */
export function accentTokens(color: string, scheme: Scheme): Record<`--${string}`, string> {
  const { accent, ink, soft } = shadesOf(color, scheme);
  return { '--accent': accent, '--accent-ink': ink, '--accent-soft': soft, '--mark': accent, '--mark-ink': ink };
}

/** CSS rules that replace the accent tokens of tokens.css on every page by the shades of a color. */
export function accentRules(color: string): string {
  const rule = (scheme: Scheme) => {
    const tokens = Object.entries(accentTokens(color, scheme)).map(([name, value]) => `${name}:${value}`);
    return `:root[data-mantine-color-scheme="${scheme}"]{${tokens.join(';')}}`;
  };
  return rule('dark') + rule('light');
}
