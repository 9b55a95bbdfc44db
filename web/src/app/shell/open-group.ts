/** Sidebar groups that can be folded. */
export type StaffGroup = 'support' | 'administration';
export type OpenGroup = StaffGroup | 'none';

const KEY = 'palisade.open_group';

/** The group that was last unfolded in this browser. */
export function readOpenGroup(): OpenGroup | undefined {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'support' || kept === 'administration' || kept === 'none' ? kept : undefined;
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
