import { SURFACES, shadesOf } from '@palisade/contract/accent';
import type { Brand } from '@palisade/contract/brand';
import type { Kysely } from 'kysely';
import { readBrand } from './brand.ts';
import { type InstallationTables, readProvider } from './installation.ts';

/** The provider's name and look in mails. */
export interface Look {
  provider_name: string;
  brand: Brand;
}

/** A letter's text and the look of its HTML page. */
interface Branded extends Look {
  text: string;
  public_url: string | undefined;
}

/** The light scheme of web/src/app/tokens.css: mail programs know no custom properties. */
const COLORS = { page: SURFACES.light[0], card: SURFACES.light[1], text: '#0e1a2c', muted: '#4b5d76', dark: SURFACES.dark[1] };
const PRODUCT_ACCENT = '#0b7a6b';
/** Pages show a logo three times smaller than it is stored, mails two times. */
const LOGO_SCALE = 2;
/** The line before the signature of a text (RFC 3676, 4.3). */
export const FOOTER = '\n\n-- \n';
const ADDRESS = /https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]/gu;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replaceAll(/[&<>"]/gu, (letter) => ENTITIES[letter] ?? letter);

function linked(text: string, accent: string): string {
  const link = (address: string) => `<a href="${escaped(address)}" style="color:${accent}">${escaped(address)}</a>`;
  let html = '';
  let done = 0;
  for (const { 0: address, index } of text.matchAll(ADDRESS)) {
    html += escaped(text.slice(done, index)) + link(address);
    done = index + address.length;
  }
  return (html + escaped(text.slice(done))).replaceAll('\n', '<br>');
}

function logoOf({ brand: { logo }, provider_name, public_url }: Branded): string {
  if (logo === null || public_url === undefined) return `<p style="margin:0;font-weight:600">${escaped(provider_name)}</p>`;
  const [width, height] = [logo.width, logo.height].map((pixels) => Math.max(1, Math.round(pixels / LOGO_SCALE)));
  const plate = logo.on === 'dark' ? `background:${COLORS.dark};padding:8px;border-radius:8px;` : '';
  const style = `${plate}max-width:100%;font-size:18px;font-weight:600;color:${logo.on === 'dark' ? COLORS.card : COLORS.text}`;
  const address = escaped(new URL(logo.path, public_url).href);
  return `<img src="${address}" width="${width}" height="${height}" alt="${escaped(provider_name)}" style="${style}">`;
}

/** A paragraph that consists of an address becomes a button, with the address below it for people who check or copy it. */
function paragraph(text: string, { accent, ink }: { accent: string; ink: string }): string {
  if (!/^https?:\/\/\S+$/u.test(text)) return `<p style="margin:0 0 16px">${linked(text, accent)}</p>`;
  const button = `display:inline-block;padding:10px 18px;border-radius:8px;background:${accent};color:${ink};font-weight:600;text-decoration:none`;
  const small = `<br><span style="font-size:12px;color:${COLORS.muted};word-break:break-all">${escaped(text)}</span>`;
  return `<p style="margin:0 0 16px"><a href="${escaped(text)}" style="${button}">Open the page</a>${small}</p>`;
}

export async function readLook(database: Kysely<InstallationTables>): Promise<Look> {
  const { provider_name } = await readProvider(database);
  return { provider_name, brand: await readBrand(database) };
}

/** The HTML of a letter in the provider's look, sent beside its text; undefined for the product's look, whose mails are text only. */
export function mailPage(letter: Branded): string | undefined {
  const { accent: color, logo } = letter.brand;
  if (color === null && logo === null) return undefined;
  const shades = shadesOf(color ?? PRODUCT_ACCENT, 'light');
  const end = letter.text.lastIndexOf(FOOTER);
  const paragraphs = letter.text
    .slice(0, end)
    .split('\n\n')
    .map((text) => paragraph(text, shades));
  const font = 'font:15px/1.5 system-ui,-apple-system,Segoe UI,Roboto,Arial,sans-serif';
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light"></head>',
    `<body style="margin:0;padding:24px 12px;background:${COLORS.page};color:${COLORS.text};${font}">`,
    `<div style="max-width:560px;margin:0 auto;padding:24px;background:${COLORS.card};border-radius:12px;overflow-wrap:anywhere">`,
    `<div style="margin:0 0 24px">${logoOf(letter)}</div>`,
    ...paragraphs,
    `<p style="margin:24px 0 0;font-size:13px;color:${COLORS.muted}">${linked(letter.text.slice(end + FOOTER.length).trimEnd(), shades.accent)}</p>`,
    '</div></body></html>',
  ].join('\n');
}
