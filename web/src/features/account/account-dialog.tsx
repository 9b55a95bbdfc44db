import type { TwoFactor } from '@palisade/contract/two-factor';
import { IconDeviceDesktop, IconKey, IconListDetails, IconShieldLock, IconUserCircle } from '@tabler/icons-react';
import { useState } from 'react';
import { ModalWindow } from '#ui/modal-window.tsx';
import { type SideTab, SideTabs } from '#ui/side-tabs.tsx';
import { OwnActivity } from './own-activity.tsx';
import { PasswordForm } from './password-form.tsx';
import { ProfileTab } from './profile-tab.tsx';
import { PushPart } from './push-part.tsx';
import { SignedInSessions } from './signed-in-sessions.tsx';
import type { TwoFactorTask } from './two-factor.queries.ts';
import { TwoFactorPart } from './two-factor-part.tsx';
import { TwoFactorSteps } from './two-factor-steps.tsx';

const TABS = [
  { name: 'profile', label: 'Profile', icon: IconUserCircle },
  { name: 'two-factor', label: 'Two-factor', icon: IconShieldLock },
  { name: 'password', label: 'Password', icon: IconKey },
  { name: 'sessions', label: 'Sessions', icon: IconDeviceDesktop },
  { name: 'activity', label: 'Activity', icon: IconListDetails },
] as const satisfies readonly SideTab<string>[];
export type AccountTab = (typeof TABS)[number]['name'];

/** The tab with a name from the address; undefined if there is no such tab. */
export function accountTabOf(name: string | null): AccountTab | undefined {
  return TABS.find((tab) => tab.name === name)?.name;
}

/** In px: for tabs with a form beside them, and for a single task. */
const WIDTHS = { tabs: 720, task: 560 };

/** All settings of the person's own account, in tabs. The page below keeps its route. */
export function AccountDialog({ first, onClose }: { first: AccountTab; onClose: () => void }) {
  const [tab, setTab] = useState<AccountTab>(first);
  const [task, setTask] = useState<{ task: TwoFactorTask; twoFactor: TwoFactor }>();
  const [told, setTold] = useState<string>();
  const [confirmedUntil, setConfirmedUntil] = useState(0);
  return (
    <ModalWindow
      title={tab === 'profile' ? 'Profile Settings' : 'Security Preferences'}
      size={task ? WIDTHS.task : WIDTHS.tabs}
      onClose={onClose}
    >
      {task ? (
        // Without tabs: recovery codes are shown once, and switching tabs would lose them.
        <TwoFactorSteps
          {...task}
          isConfirmed={Date.now() < confirmedUntil}
          onConfirmed={(seconds) => setConfirmedUntil(Date.now() + seconds * 1_000)}
          onLeave={(sentence) => {
            setTask(undefined);
            setTold(sentence);
          }}
        />
      ) : (
        <SideTabs label="Account" tabs={TABS} chosen={tab} onChoose={setTab} isFirst={tab !== 'password'}>
          {tab === 'profile' && <ProfileTab />}
          {tab === 'two-factor' && <TwoFactorPart told={told} onTask={(next, twoFactor) => setTask({ task: next, twoFactor })} />}
          {tab === 'password' && <PasswordForm isFirst={first === 'password'} />}
          {tab === 'sessions' && (
            <>
              <SignedInSessions />
              <PushPart />
            </>
          )}
          {tab === 'activity' && <OwnActivity />}
        </SideTabs>
      )}
    </ModalWindow>
  );
}
