/** The order matters, because most browsers also name older browsers. */
const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|OPiOS|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/\bWindows\b/, 'Windows'],
  [/\b(iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

/** The name of an unrecognised client. */
export const UNKNOWN_CLIENT = 'Unknown client';

/** A short name from a `User-Agent` header: "Firefox on Windows". The header can be forged, so it only helps people to recognize a device. */
export function describeUserAgent(user_agent: string | null): string {
  if (user_agent === null) return UNKNOWN_CLIENT;
  const browser = BROWSERS.find(([pattern]) => pattern.test(user_agent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(user_agent))?.[1];
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? UNKNOWN_CLIENT;
}
