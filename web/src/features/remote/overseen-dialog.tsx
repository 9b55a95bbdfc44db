import type { OverseenSession } from '@palisade/contract/remote-staff';
import { DetailPart, Fact, Facts } from '#ui/detail-dialog.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import '#ui/detail-dialog.css';
import { lastedOf } from './lasted.ts';
import { overseenAuditQuery } from './overseen.queries.ts';
import { RecordedList } from './recorded-list.tsx';
import { REPORTS } from './report-words.ts';
import { END_REASONS, SessionBadge } from './session-badge.tsx';

const VIEWS = { screen: 'A screen, by the customer’s consent', talk: 'No screen: they talked' } as const;

/** All facts about a session of other people, for administrators. */
export function OverseenDialog({ session, onClose }: { session: OverseenSession; onClose: () => void }) {
  const now = useMinute();
  const { customer, support_agent, technician, joined_at, ended_at, end_reason, view, rating, report } = session;
  return (
    <ModalWindow title={`Session of ${customer}`} size={640} onClose={onClose}>
      <div className="detail">
        <SessionBadge status={session.status} />
        <Facts>
          <Fact name="Customer">
            <bdi>{customer}</bdi>
          </Fact>
          <Fact name="Technician">
            <bdi>{technician?.name ?? support_agent}</bdi>
          </Fact>
          {joined_at !== null && (
            <Fact name="Asked">
              <Moment iso={joined_at} now={now} />
            </Fact>
          )}
          <Fact name="Shown">{view === null ? 'Nothing: it was not approved' : VIEWS[view]}</Fact>
          <Fact name="Lasted">{lastedOf(session, now) ?? 'Not approved'}</Fact>
          {ended_at !== null && (
            <Fact name="Ended">
              <Moment iso={ended_at} now={now} />
            </Fact>
          )}
          {end_reason !== null && <Fact name="Why">{END_REASONS[end_reason]}</Fact>}
          {rating !== null && <Fact name="Rating">{`${rating} of 5`}</Fact>}
        </Facts>
        {report !== null && (
          <DetailPart title="What the customer reported">
            <p>
              {REPORTS[report.reason]}, <Moment iso={report.at} now={now} />
            </p>
            {report.comment !== '' && (
              <blockquote className="pre surface-sunken pad-s base break">
                <bdi>{report.comment}</bdi>
              </blockquote>
            )}
          </DetailPart>
        )}
        <DetailPart title="What was recorded">
          <RecordedList query={overseenAuditQuery(session.id)} />
        </DetailPart>
      </div>
    </ModalWindow>
  );
}
