import { type Logo, logoSizeSchema } from '@palisade/contract/brand';
import { useConfig } from './config.ts';

/** The logo in the head of the page, where the server wrote it: it is there before the settings. */
function logoOfPage(): Logo | null {
  const link = document.querySelector<HTMLLinkElement>('#logo');
  if (!link) return null;
  const { width, height, on } = link.dataset;
  const size = logoSizeSchema.safeParse({ width: Number(width), height: Number(height), on }).data;
  return size === undefined ? null : { ...size, path: link.getAttribute('href') ?? '' };
}

/** The provider’s logo; null where the product’s mark stands. */
export function useLogo(): Logo | null {
  const brand = useConfig()?.brand;
  return brand === undefined ? logoOfPage() : brand.logo;
}
