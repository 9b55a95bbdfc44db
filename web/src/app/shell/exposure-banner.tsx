import { IconAlertTriangle } from '@tabler/icons-react';
import { Row } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import './exposure-banner.css';

/** Warns administrators that other computers can reach an installation meant for one computer. */
export function ExposureBanner() {
  return (
    <Row as="section" wrap={false} gap="3" className="exposure-banner base amber" aria-label="Exposure">
      <IconAlertTriangle size={20} stroke={1.7} aria-hidden="true" />
      <p>
        <Sentence
          text="This installation runs in local exposure on an address that others may reach. Set {setting}, or let it listen on a loopback address only."
          parts={{ setting: <code>EXPOSURE=public</code> }}
        />
      </p>
    </Row>
  );
}
