import { useMemo } from 'react';
import { encode } from 'uqr';
import './qr-code.css';

/** White border of a QR code that readers require, in modules (ISO/IEC 18004, section 6.3.8). */
const QUIET_ZONE = 4;

/** A QR code, dark on white in both colour schemes, because some readers cannot read inverted codes. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
    const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
    return { size, path: modules.join('') };
  }, [text]);
  return (
    <svg
      className="qr-code block full rounded-s"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path fill="#000" d={path} />
    </svg>
  );
}
