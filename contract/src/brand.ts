import { z } from 'zod';

/** A color in six digits. `colorOf` (accent.ts) reads what people type. */
export const accentSchema = z.string().regex(/^#[\da-f]{6}$/u, 'Enter a color as # and six digits, like #0b7a6b.');

/** A logo by its pixels. `on`: the backgrounds on which it can be seen. */
export const logoSizeSchema = z.object({ width: z.int(), height: z.int(), on: z.enum(['light', 'dark', 'any']) });

/** The provider's own look; null where the product's stands. `path` is the address of the logo, new with each logo. */
export const brandSchema = z.object({
  accent: accentSchema.nullable(),
  logo: logoSizeSchema.extend({ path: z.string() }).nullable(),
});
export type Brand = z.infer<typeof brandSchema>;
export type Logo = NonNullable<Brand['logo']>;
