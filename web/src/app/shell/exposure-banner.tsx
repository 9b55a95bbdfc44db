import { IconAlertTriangle } from '@tabler/icons-react';
import { useConfig } from '#api/config.ts';
import { useMayAdministrate } from '#api/policies.ts';
import { Sentence } from '#ui/sentence.tsx';
import './exposure-banner.css';

/** Warns administrators that other computers can reach an installation meant for one computer. */
export function ExposureBanner() {
  const isAdmin = useMayAdministrate();
  const isOpen = useConfig()?.open_local ?? false;
  if (!isAdmin || !isOpen) return null;
  return (
    <section className="exposure-banner" aria-label="Exposure">
      <IconAlertTriangle size={20} stroke={1.7} aria-hidden="true" />
      <p>
        <Sentence
          text="This installation runs in local exposure on an address that others may reach. Set {setting}, or let it listen on a loopback address only."
          parts={{ setting: <code>EXPOSURE=public</code> }}
        />
      </p>
    </section>
  );
}
