import { VERSION } from '@palisade/contract/constants';
import { useConfig } from '#api/config.ts';

/** Whom to ask, when the provider has said so, and the version. */
export function SupportBlock() {
  const support = useConfig()?.support;
  return (
    <footer className="support-block">
      {support && (support.phone || support.email) && (
        <>
          <b>Support, available 24/7</b>
          <span>Response under 30 seconds</span>
          {support.phone && <a href={`tel:${support.phone}`}>{support.phone}</a>}
          {support.email && <a href={`mailto:${support.email}`}>{support.email}</a>}
        </>
      )}
      <span className="num">v{VERSION}</span>
    </footer>
  );
}
