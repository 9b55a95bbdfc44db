import { type AlertPhrase, alertPhrase } from '@palisade/contract/alert-phrases';

/** The part of an infected upload that its alert tells. */
interface InfectedUpload {
  filename: string;
  member: string | null;
  threat: string;
  is_test_file: boolean;
  /** The state of the uploaded bytes. */
  copy: 'sealed' | 'deleted' | 'left' | 'waiting';
}

/** Whether the server's copy is out of reach. The original is still on the person's device, which no server can vouch for. */
export function isOutOfReach(copy: InfectedUpload['copy']): boolean {
  return copy === 'sealed' || copy === 'deleted';
}

/** The finding, its place, and the action. */
export function infectedFilePhrase({ filename, member, threat, is_test_file, copy }: InfectedUpload): AlertPhrase {
  const found = { threat, filename, copy };
  if (member === null) return alertPhrase(is_test_file ? 'test_file' : 'infected_file', found);
  return alertPhrase(is_test_file ? 'test_file.member' : 'infected_file.member', { ...found, member });
}
