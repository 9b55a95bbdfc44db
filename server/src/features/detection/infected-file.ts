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
  sealed: 'The uploaded copy is locked away in quarantine. Delete the original.',
  deleted: 'The uploaded copy was deleted. Delete the original too.',
  left: 'The uploaded copy could not be deleted yet. Delete the original.',
  waiting: 'The uploaded copy is given to nobody, and is locked away as soon as there is room. Delete the original.',
};

const OUTCOMES_OF_TEST_FILES: Record<InfectedUpload['copy'], string> = {
  sealed: 'The uploaded copy is in quarantine.',
  deleted: 'The uploaded copy was deleted.',
  left: 'The uploaded copy could not be deleted yet.',
  waiting: 'The uploaded copy is given to nobody, and is locked away as soon as there is room.',
};

/** Whether the copy that reached this server is out of reach. The original lies where the person took it from, and no server can vouch for it. */
export function isOutOfReach(copy: InfectedUpload['copy']): boolean {
  return copy === 'sealed' || copy === 'deleted';
}

/** A sentence with the finding, its place, and the action. */
export function describeInfectedFile({ filename, member, threat, is_test_file, copy }: InfectedUpload): string {
  const found = `${threat} was found in ${member === null ? filename : `${filename} (${member})`}.`;
  return is_test_file ? `${found} It is a harmless test file. ${OUTCOMES_OF_TEST_FILES[copy]}` : `${found} ${OUTCOMES[copy]}`;
}
