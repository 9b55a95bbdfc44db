import './brand.css';

export function BrandMark({ size = 32 }: { size?: number }) {
  return (
    <span className="brand-mark" style={{ width: size, height: size }} aria-hidden="true">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M5 20V9l2-3 2 3v11M10 20V7l2-4 2 4v13M15 20V9l2-3 2 3v11M4 14h16" />
      </svg>
    </span>
  );
}

export function Brand({ provider }: { provider?: string | undefined }) {
  return (
    <span className="brand">
      <BrandMark />
      <span className="brand__text">
        <span className="brand__name">Palisade</span>
        {provider && provider !== 'Palisade' && <span className="brand__provider">{provider}</span>}
      </span>
    </span>
  );
}
