import { PNG } from 'pngjs';
import type { DrawIcon } from '#platform/brand.ts';
import { scale } from './logo-picture.ts';

/** Backgrounds of an icon: those of cards (web/src/app/tokens.css). */
const GROUNDS = { light: [255, 255, 255, 255], dark: [16, 26, 42, 255], none: [0, 0, 0, 0] };
/** Part of the side that the logo fills. Systems cut a maskable icon to a circle of 80 % (W3C Web Application Manifest, "Icon masks"). */
const FILLED = { plain: 1, maskable: 0.7 };

/** Draws the stored logo in the middle of a square PNG, on a background where it can be seen. */
export const drawIcon: DrawIcon = ({ logo, picture, side, isMaskable }) => {
  const box = side * (isMaskable ? FILLED.maskable : FILLED.plain);
  const factor = Math.min(box / logo.width, box / logo.height);
  const width = Math.max(1, Math.floor(logo.width * factor));
  const height = Math.max(1, Math.floor(logo.height * factor));
  const { rgba } = scale({ ...logo, rgba: PNG.sync.read(picture).data }, width, height);
  const ground = logo.on === 'any' ? (isMaskable ? GROUNDS.light : GROUNDS.none) : GROUNDS[logo.on];
  const icon = new PNG({ width: side, height: side });
  icon.data.fill(Buffer.from(ground));
  const [left, top] = [Math.floor((side - width) / 2), Math.floor((side - height) / 2)];
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const from = (y * width + x) * 4;
      const to = ((top + y) * side + left + x) * 4;
      const alpha = (rgba[from + 3] ?? 0) / 255;
      const below = (icon.data[to + 3] ?? 0) / 255;
      for (let part = 0; part < 3; part += 1) {
        const color = rgba[from + part] ?? 0;
        icon.data[to + part] = below === 0 ? color : Math.round(color * alpha + (icon.data[to + part] ?? 0) * (1 - alpha));
      }
      icon.data[to + 3] = Math.round(255 * (alpha + below * (1 - alpha)));
    }
  return PNG.sync.write(icon);
};
