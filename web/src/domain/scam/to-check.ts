import { useNavigate } from 'react-router';

/** A message that another screen or another program hands to the scam check. It stays in this page's memory. */
export type ToCheck = { text: string } | { file: File };

let waiting: ToCheck | undefined;

/** Takes what was handed over, once. */
export function takeToCheck(): ToCheck | undefined {
  const taken = waiting;
  waiting = undefined;
  return taken;
}

/** Leads to the scam check, which begins at once. */
export function useCheckThis(): (what: ToCheck) => void {
  const navigate = useNavigate();
  return (what) => {
    waiting = what;
    void navigate('/scam-check');
  };
}
