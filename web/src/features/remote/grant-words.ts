import type { GrantKind, GrantsEnded } from '@palisade/contract/remote-grant';

/** Labels of the switches of each grant. */
export const GRANT_LABELS: Record<'view' | 'control' | 'clipboard', (device: string) => string> = {
  view: (device) => `See the screen of ${device}`,
  control: (device) => `Control mouse and keyboard of ${device}`,
  clipboard: () => 'Share the clipboard: what is copied on one side can be pasted on the other',
};

/** Sentences of a technician's request. */
export const WANTED: Record<GrantKind, (technician: string) => string> = {
  view: (technician) => `${technician} asks to see the screen of your computer.`,
  control: (technician) => `${technician} asks to control your computer.`,
  clipboard: (technician) => `${technician} asks to share the clipboard with your computer.`,
  files: (technician) => `${technician} asks to send you files and get files from you.`,
  recording: (technician) => `${technician} asks to record what you show.`,
};

const ENDS: Record<GrantsEnded['why'], string> = {
  customer: 'The customer took it back.',
  technician: 'The technician gave it back.',
  own_input: 'The customer moved their own mouse.',
  page_gone: 'The page of one side was closed or cut off.',
  agent_gone: 'The agent on the device ended or was cut off.',
  unavailable: 'The device cannot be controlled.',
  malformed: 'What came was no remote control, so it was cut off.',
};

/** The reason why control ended, in one or two sentences. */
export function describeEnd({ why, detail }: Pick<GrantsEnded, 'why' | 'detail'>): string {
  return detail === null ? ENDS[why] : `${ENDS[why]} ${detail}`;
}
