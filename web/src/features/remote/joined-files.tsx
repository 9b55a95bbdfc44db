import type { JoinedSession } from '@palisade/contract/remote';
import { RecordingOnItsWay } from './recording-line.tsx';
import { SessionFileList } from './session-files.tsx';

/** What a technician can still download of a session that is over, and what is still on its way from here. */
export function JoinedFiles({ session }: { session: JoinedSession }) {
  return (
    <div className="session-files__part">
      <RecordingOnItsWay session_id={session.id} />
      <SessionFileList session_id={session.id} side="technician" />
    </div>
  );
}
