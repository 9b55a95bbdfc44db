import { STATUS_DETAIL_SENTENCES } from '@palisade/contract/antivirus';
import { askSecondLook, type DeviceFinding, withdrawSecondLook } from '@palisade/contract/devices';
import { describeBytes } from '@palisade/contract/intl';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { ScanBadge } from '#domain/scan/scan-badge.tsx';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';

interface SecondLookProps {
  finding: DeviceFinding;
  /** Name of the device. */
  name: string;
  /** Whether the device can send files. */
  canSend: boolean;
}

/** Result of a server rescan of a finding. The file is sent only on the person's request. */
export function SecondLook({ finding: { id, path, size, state, order, second_look: look }, name, canSend }: SecondLookProps) {
  const now = useMinute();
  const ask = useChange({
    of: askSecondLook,
    mutationFn: () => call(askSecondLook, { params: { id }, body: { agreed: true } }),
  });
  const withdraw = useChange({
    of: withdrawSecondLook,
    mutationFn: () => call(withdrawSecondLook, { params: { id } }),
  });
  const error = ask.error ?? withdraw.error;
  const is_open = look?.state === 'asked' || look?.state === 'scanning';
  const canAsk = canSend && !is_open && state !== 'deleted' && order === null;
  const question = `Send ${path} (${describeBytes(size)}) from ${name} to this server for a rescan? We quarantine it if it’s infected. No other file is sent.`;
  if (look === null && !canAsk) return null;
  return (
    <div className="device-look contents">
      {look?.state === 'asked' && (
        <span className="sub">
          <Sentence
            text="Server rescan: {name} will send the file when it connects. Requested {when}"
            parts={{ name, when: <Moment iso={look.asked_at} now={now} /> }}
          />
        </span>
      )}
      {look?.state === 'scanning' && <span className="sub">Server rescan: scanning the file.</span>}
      {look?.state === 'failed' && <span className="sub">{`Server rescan failed: ${look.reason}`}</span>}
      {look?.state === 'gone' && <span className="sub">The server rescan was deleted.</span>}
      {look?.state === 'answered' && look.scan && (
        <Row as="span" gap="2" rowGap="1" className="sub">
          Server rescan: <ScanBadge scan={look.scan} />
          {look.scan.threat_detected !== null && <b>{look.scan.threat_detected}</b>}
          {look.scan.status_detail !== null && <span>{STATUS_DETAIL_SENTENCES[look.scan.status_detail]}</span>}
          <Moment iso={look.scan.scanned_at} now={now} />
        </Row>
      )}
      <Refusal error={error} />
      {canAsk && (
        <Button
          size="s"
          variant="quiet"
          loading={ask.isPending}
          onClick={() => {
            if (window.confirm(question)) ask.mutate();
          }}
        >
          {look === null ? 'Server rescan' : 'Rescan again'}
        </Button>
      )}
      {look?.state === 'asked' && (
        <Button size="s" variant="quiet" loading={withdraw.isPending} onClick={() => withdraw.mutate()}>
          Cancel rescan
        </Button>
      )}
    </div>
  );
}
