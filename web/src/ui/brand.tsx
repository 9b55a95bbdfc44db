import type { Logo } from '@palisade/contract/brand';
import { useLogo } from '#api/brand.ts';
import { useConfig } from '#api/config.ts';
import './brand.css';

const WIDTH_MAXIMUM = 160;

/** A provider’s logo, scaled to the height of the product's mark that it replaces. */
export function BrandLogo({ logo, name, size = 32 }: { logo: Logo; name: string; size?: number | undefined }) {
  const scale = Math.min(1, size / logo.height, WIDTH_MAXIMUM / logo.width);
  const [width, height] = [Math.round(logo.width * scale), Math.round(logo.height * scale)];
  return <img className="brand-logo" data-on={logo.on} src={logo.path} width={width} height={height} alt={name} />;
}

function useProvider(): string {
  return useConfig()?.provider_name ?? 'Palisade';
}

/** The mark of the product. */
export function ProductMark({ size = 32 }: { size?: number | undefined }) {
  return (
    <span className="brand-mark" style={{ width: size, height: size }} aria-hidden="true">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M5 20V9l2-3 2 3v11M10 20V7l2-4 2 4v13M15 20V9l2-3 2 3v11M4 14h16" />
      </svg>
    </span>
  );
}

/** The provider’s logo, or the mark of the product. */
export function BrandMark({ size }: { size?: number | undefined }) {
  const logo = useLogo();
  const name = useProvider();
  return logo ? <BrandLogo logo={logo} name={name} size={size} /> : <ProductMark size={size} />;
}

/** The provider’s logo, or the mark and name of the product with the provider’s name. */
export function Brand({ provider }: { provider?: string | undefined }) {
  const logo = useLogo();
  const name = useProvider();
  return (
    <span className="brand">
      {logo ? (
        <BrandLogo logo={logo} name={name} />
      ) : (
        <>
          <ProductMark />
          <span className="brand__text">
            <span className="brand__name">Palisade</span>
            {provider && provider !== 'Palisade' && <span className="brand__provider">{provider}</span>}
          </span>
        </>
      )}
    </span>
  );
}
