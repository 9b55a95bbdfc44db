import type { JoinedSession } from '@palisade/contract/remote';
import { Stack } from '#ui/layout.tsx';
import { RecordingOnItsWay } from './recording-line.tsx';
import { SessionFileList } from './session-files.tsx';

/** Files of an ended session that the technician can still download or is still sending. */
export function JoinedFiles({ session }: { session: JoinedSession }) {
  return (
    <Stack gap="3" className="session-files__part pad-m base off-empty">
      <RecordingOnItsWay session_id={session.id} />
      <SessionFileList session_id={session.id} side="technician" />
    </Stack>
  );
}
