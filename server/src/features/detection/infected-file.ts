/** As much of an infected upload as its alert tells. */
interface InfectedUpload {
  filename: string;
  member: string | null;
  threat: string;
  is_test_file: boolean;
  /** The state of the uploaded bytes. */
  copy: 'sealed' | 'deleted' | 'left' | 'waiting';
}

const OUTCOMES: Record<InfectedUpload['copy'], string> = {
  sealed: 'Our copy is in quarantine. Delete the original.',
  deleted: 'We deleted our copy. Delete the original too.',
  left: 'We couldn’t delete our copy yet. Delete the original.',
  waiting: 'No one can open our copy. It moves to quarantine when there’s space. Delete the original.',
};

const OUTCOMES_OF_TEST_FILES: Record<InfectedUpload['copy'], string> = {
  sealed: 'Our copy is in quarantine.',
  deleted: 'We deleted our copy.',
  left: 'We couldn’t delete our copy yet.',
  waiting: 'No one can open our copy. It moves to quarantine when there’s space.',
};

/** Whether the copy that reached this server is out of reach. The original lies where the person took it from, and no server can vouch for it. */
export function isOutOfReach(copy: InfectedUpload['copy']): boolean {
  return copy === 'sealed' || copy === 'deleted';
}

/** A sentence with the finding, its place, and the action. */
export function describeInfectedFile({ filename, member, threat, is_test_file, copy }: InfectedUpload): string {
  const found = `We found ${threat} in ${member === null ? filename : `${filename} (${member})`}.`;
  return is_test_file ? `${found} This is a harmless test file. ${OUTCOMES_OF_TEST_FILES[copy]}` : `${found} ${OUTCOMES[copy]}`;
}
