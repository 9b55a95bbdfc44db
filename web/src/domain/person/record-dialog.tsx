import { ModalWindow } from '#ui/modal-window.tsx';
import { PersonRecord } from './person-record.tsx';

/** In px: a record of two columns. */
const WIDTH = 760;

interface RecordDialogProps {
  user_id: string;
  username: string;
  onClose: () => void;
}

/** A person's record in a dialog. */
export function RecordDialog({ user_id, username, onClose }: RecordDialogProps) {
  return (
    <ModalWindow title={username} size={WIDTH} onClose={onClose}>
      <PersonRecord user_id={user_id} />
    </ModalWindow>
  );
}
