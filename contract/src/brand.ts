import { z } from 'zod';

/** A color as `#` and six digits. `colorOf` (accent.ts) reads typed colors. */
export const accentSchema = z.string().regex(/^#[\da-f]{6}$/u, 'Enter a color as # and six digits, like #0b7a6b.');

/** A logo's size in pixels. `on`: the backgrounds on which it is visible. */
export const logoSizeSchema = z.object({ width: z.int(), height: z.int(), on: z.enum(['light', 'dark', 'any']) });

/** The provider's accent and logo; null for the product's own. `path` is the URL of the logo and changes with each logo. */
export const brandSchema = z.object({
  accent: accentSchema.nullable(),
  logo: logoSizeSchema.extend({ path: z.string() }).nullable(),
});
export type Brand = z.infer<typeof brandSchema>;
export type Logo = NonNullable<Brand['logo']>;
