import { useNavigate } from 'react-router';

/** Content that another screen or program passes to the scam check. Kept only in the memory of this page. */
export type ToCheck = { text: string } | { file: File };

let waiting: ToCheck | undefined;

/** Returns the passed content once. */
export function takeToCheck(): ToCheck | undefined {
  const taken = waiting;
  waiting = undefined;
  return taken;
}

/** Opens the scam check, which starts at once. */
export function useCheckThis(): (what: ToCheck) => void {
  const navigate = useNavigate();
  return (what) => {
    waiting = what;
    void navigate('/scam-check');
  };
}
