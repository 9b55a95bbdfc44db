import { type Logo, logoSizeSchema } from '@palisade/contract/brand';
import { useConfig } from './config.ts';

/** The logo that the server writes into the head of the page, available before the settings. */
function logoOfPage(): Logo | null {
  const link = document.querySelector<HTMLLinkElement>('#logo');
  if (!link) return null;
  const { width, height, on } = link.dataset;
  const size = logoSizeSchema.safeParse({ width: Number(width), height: Number(height), on }).data;
  return size === undefined ? null : { ...size, path: link.getAttribute('href') ?? '' };
}

/** The provider’s logo; null if there is none, so that the product’s mark is shown. */
export function useLogo(): Logo | null {
  const brand = useConfig()?.brand;
  return brand === undefined ? logoOfPage() : brand.logo;
}
