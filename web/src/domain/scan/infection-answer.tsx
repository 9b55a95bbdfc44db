import type { Scan } from '@palisade/contract/antivirus';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { describeEnd, useSettleInfections } from './infections.ts';

interface InfectionAnswerProps {
  scan: Pick<Scan, 'id' | 'filename' | 'infection' | 'device'>;
  /** True if the button is the main action of its screen. */
  isMain?: boolean;
}

/** Lets the person confirm that the infected original is deleted, or shows how the infection ended. */
export function InfectionAnswer({ scan, isMain = false }: InfectionAnswerProps) {
  const { id, filename, infection, device } = scan;
  const settle = useSettleInfections();
  if (infection === undefined) return null;
  const isOpen = infection.state === 'open';
  const label = isOpen ? 'I deleted it' : 'Not deleted after all';
  return (
    <Row gap="2" className="small muted infection-answer">
      {!isOpen && <span>{describeEnd(infection, device?.device_name)}</span>}
      {(isOpen || infection.by === 'person') && (
        <Button
          variant={isOpen ? (isMain ? 'primary' : 'quiet') : 'text'}
          size={isMain ? 'm' : 's'}
          loading={settle.isPending}
          aria-label={isMain ? undefined : `${label}: ${filename}`}
          onClick={() => settle.mutate({ scan_ids: [id], deleted: isOpen })}
        >
          {label}
        </Button>
      )}
      <Refusal error={settle.error} />
    </Row>
  );
}
