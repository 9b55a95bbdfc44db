import { Menu, useMantineColorScheme } from '@mantine/core';
import { Grid, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import '@mantine/core/styles/Popover.layer.css';
import '@mantine/core/styles/Menu.layer.css';
import type { UserInfo } from '@palisade/contract/auth';
import { isCallable, isMailable } from '@palisade/contract/contact';
import { may } from '@palisade/contract/may';
import { shownEmail } from '@palisade/contract/shown-email';
import {
  IconDevices,
  IconLogout,
  IconMail,
  IconMessage,
  IconPhone,
  IconShieldLock,
  IconUserCircle,
  type TablerIcon,
} from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { Link } from 'react-router';
import { useSupportContact } from '#api/support-contact.ts';
import { useSupportLinks } from '#api/support-links.ts';
import { STAFF_GROUPS, screensOf } from '#app/screens.tsx';
import { useClosedByBack } from '#ui/closed-by-back.ts';
import { COLOR_SCHEMES } from '#ui/color-scheme-switch.tsx';
import { useSignOut } from './use-sign-out.ts';
import { UserMenuButton } from './user-menu-button.tsx';
import './user-menu.css';

const ProfileDialog = lazyPart(async () => (await import('#features/account/profile-dialog.tsx')).ProfileDialog);
const SecurityDialog = lazyPart(async () => (await import('#features/account/security-dialog.tsx')).SecurityDialog);

const ADMINISTRATION = STAFF_GROUPS.flatMap((group) => screensOf(group, true)).filter(({ path }) => path.startsWith('/admin/'));

type OpenDialog = 'profile' | 'security';

function icon(Icon: TablerIcon) {
  return <Icon size={18} stroke={1.7} aria-hidden="true" />;
}

const EXAMPLE_MARK = (
  <span className="user-menu__example tiny muted rounded-s" aria-hidden="true">
    Example
  </span>
);

/** The signed-in person, settings and contacts. Mantine's Menu handles keys and focus. */
export function UserMenuItems({ user }: { user: UserInfo }) {
  const { live_chat } = useSupportLinks();
  const leave = useSignOut();
  const trigger = useRef<HTMLButtonElement>(null);
  // Loaded because its button was pressed, so it opens at once.
  const [isOpen, setIsOpen] = useState(true);
  useClosedByBack(isOpen, () => {
    setIsOpen(false);
    trigger.current?.focus();
  });
  const [dialog, setDialog] = useState<OpenDialog>();
  const { phone, email, is_example } = useSupportContact() ?? { phone: '', email: '', is_example: false };
  const example = is_example ? { rightSection: EXAMPLE_MARK, 'aria-description': 'An example contact' } : {};

  function closeDialog() {
    setDialog(undefined);
    // The menu item that opened the dialog is unmounted.
    trigger.current?.focus();
  }

  return (
    <>
      <Menu
        opened={isOpen}
        onChange={setIsOpen}
        // Opened by state, Mantine does not know where the focus was.
        onClose={() => trigger.current?.focus()}
        position="bottom-end"
        width={280}
        withinPortal={false}
        alignItemsLabels="none"
        // The placeholder is not a valid child of a menu; the first item takes the focus itself.
        withInitialFocusPlaceholder={false}
        classNames={{ dropdown: 'user-menu', item: 'user-menu__item', divider: 'user-menu__divider' }}
      >
        <Menu.Target>
          <UserMenuButton ref={trigger} username={user.username} />
        </Menu.Target>
        <Menu.Dropdown>
          <Stack className="user-menu__who small muted line-below below-1 break">
            <b className="base bold ink">
              <bdi>{user.username}</bdi>
            </b>
            <span>
              <bdi>{shownEmail(user.email)}</bdi>
            </span>
            <span>Security User</span>
          </Stack>
          <Menu.Item data-autofocus leftSection={icon(IconUserCircle)} onClick={() => setDialog('profile')}>
            Profile Settings
          </Menu.Item>
          <Menu.Item leftSection={icon(IconShieldLock)} onClick={() => setDialog('security')}>
            Security Preferences
          </Menu.Item>
          <Menu.Item component={Link} to="/devices" leftSection={icon(IconDevices)}>
            Devices
          </Menu.Item>
          {may.administrate(user) && (
            <>
              <Menu.Divider />
              <Menu.Label className="user-menu__label muted">Administration</Menu.Label>
              {ADMINISTRATION.map(({ path, title, nav }) => (
                <Menu.Item key={path} component={Link} to={path} leftSection={icon(nav.icon)}>
                  {title}
                </Menu.Item>
              ))}
            </>
          )}
          <Menu.Divider />
          <Menu.Item component="a" href={live_chat} target="_blank" rel="noopener" leftSection={icon(IconMessage)}>
            Live chat
          </Menu.Item>
          {phone && isCallable(phone) && (
            <Menu.Item component="a" href={`tel:${phone}`} leftSection={icon(IconPhone)} {...example}>
              Call support
            </Menu.Item>
          )}
          {email && isMailable(email) && (
            <Menu.Item component="a" href={`mailto:${email}`} leftSection={icon(IconMail)} {...example}>
              Email support
            </Menu.Item>
          )}
          <Menu.Divider />
          <ColorSchemeItems />
          <Menu.Divider />
          <Menu.Item leftSection={icon(IconLogout)} onClick={leave}>
            Sign Out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>

      {dialog === 'profile' && <ProfileDialog onClose={closeDialog} />}
      {dialog === 'security' && <SecurityDialog onClose={closeDialog} />}
    </>
  );
}

function ColorSchemeItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Grid as="fieldset" columns="3" gap="1" className="user-menu__schemes shrink" aria-label="Color scheme">
      {COLOR_SCHEMES.map(({ value, label, icon: Icon }) => (
        <Menu.RadioItem
          key={value}
          value={value}
          checked={colorScheme === value}
          onChange={() => setColorScheme(value)}
          checkIcon={<span />}
        >
          <Icon size={16} stroke={1.7} aria-hidden="true" />
          {label}
        </Menu.RadioItem>
      ))}
    </Grid>
  );
}
