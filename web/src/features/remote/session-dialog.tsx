import type { RemoteSession } from '@palisade/contract/remote';
import { DetailPart, Fact, Facts } from '#ui/detail-dialog.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import '#ui/detail-dialog.css';
import { RateAndReport, SessionAudit } from './after-session.tsx';
import { ChangedDevices } from './changed-devices.tsx';
import { ownEndReason, SessionBadge } from './session-badge.tsx';
import { SessionFileList } from './session-files.tsx';

/** All facts about an ended session, for its customer. */
export function SessionDialog({ session, onClose }: { session: RemoteSession; onClose: () => void }) {
  const now = useMinute();
  const { support_agent, technician, ended_at, end_reason } = session;
  return (
    <ModalWindow title={`Session ${session.session_code}`} size={640} onClose={onClose}>
      <div className="detail">
        <SessionBadge status={session.status} />
        <Facts>
          <Fact name="Technician">
            <bdi>{technician?.name ?? support_agent ?? 'No one joined'}</bdi>
          </Fact>
          <Fact name="Created">
            <Moment iso={session.started_at} now={now} />
          </Fact>
          {ended_at !== null && (
            <Fact name="Ended">
              <Moment iso={ended_at} now={now} />
            </Fact>
          )}
          {end_reason !== null && <Fact name="Why">{ownEndReason(end_reason)}</Fact>}
        </Facts>
        {support_agent !== null && (
          <DetailPart title="What you say of it">
            <RateAndReport session={session} />
          </DetailPart>
        )}
        {session.approved_at !== null && (
          <DetailPart title="What changed on your device">
            <ChangedDevices session={session} />
          </DetailPart>
        )}
        <SessionFileList session_id={session.id} side="customer" />
        <DetailPart title="What was recorded">
          <SessionAudit session={session} />
        </DetailPart>
      </div>
    </ModalWindow>
  );
}
