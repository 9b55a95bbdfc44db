import { isStaffGroup, type StaffGroup } from '#app/screens.tsx';

export type OpenGroup = StaffGroup | 'none';

const KEY = 'palisade.open_group';

/** The group that was last unfolded in this browser. */
export function readOpenGroup(): OpenGroup | undefined {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'none' || isStaffGroup(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

export function keepOpenGroup(group: OpenGroup): void {
  try {
    localStorage.setItem(KEY, group);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
