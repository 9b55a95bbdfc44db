import { useMantineColorScheme } from '@mantine/core';
import type { UserInfo } from '@palisade/contract/auth';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useSignOut } from '#app/shell/use-sign-out.ts';
import { dashboardQuery } from '#domain/dashboard/dashboard.ts';
import { useClosedByBack } from '#ui/closed-by-back.ts';
import { Row } from '#ui/layout.tsx';
import { enterMeans, isOfInputMethod } from '#ui/pressed.ts';
import { actionItems, screenItems, stepItems } from './palette-actions.ts';
import { matching, type PaletteGroup, type PaletteItem } from './palette-items.ts';
import { useFoundRecords } from './palette-records.ts';
import './palette.css';

interface PaletteProps {
  user: UserInfo;
  /** Text typed before the palette was there. */
  early?: RefObject<string>;
  onClose: () => void;
}

/** Finds screens, actions and records by words. The native dialog handles focus, Escape and the inert page below. */
export function Palette({ user, early, onClose }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const { groups, isSearching } = usePaletteGroups(user, typed);
  const navigate = useNavigate();
  const id = useId();
  const items = groups.flatMap((group) => group.items);
  const current = items[Math.min(chosen, items.length - 1)];

  useClosedByBack(true, onClose);

  // Attached together with the element, because from then on the field receives the typed letters.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    field.current?.focus();
    setTyped(early?.current ?? '');
  }, [early]);

  useEffect(() => {
    if (current) document.getElementById(`${id}-${current.id}`)?.scrollIntoView({ block: 'nearest' });
  }, [current, id]);

  function take({ to }: PaletteItem) {
    onClose();
    if (typeof to === 'string') void navigate(to);
    else to();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (isOfInputMethod(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && items.length > 0) {
      event.preventDefault();
      setChosen((Math.min(chosen, items.length - 1) + step + items.length) % items.length);
    }
    if (enterMeans(event) && current) {
      event.preventDefault();
      take(current);
    }
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape already closes a dialog
    <dialog
      ref={dialog}
      className="palette ink"
      aria-label="Search everything"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="palette__panel rounded">
        <Row wrap={false} gap="3" className="palette__field fixed line-below muted">
          <IconSearch size={20} stroke={1.7} aria-hidden="true" />
          <input
            ref={field}
            type="text"
            role="combobox"
            aria-label="Search everything"
            aria-expanded={items.length > 0}
            aria-controls={`${id}-list`}
            aria-activedescendant={current && `${id}-${current.id}`}
            aria-autocomplete="list"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            placeholder="Screens, actions, help, files"
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value);
              setChosen(0);
            }}
            onKeyDown={onKeyDown}
          />
          <button type="button" className="palette__close bare rounded-s muted" onClick={onClose}>
            Close
          </button>
        </Row>
        <Results id={`${id}-list`} groups={groups} current={current} optionId={(item) => `${id}-${item}`} onTake={take} />
        <Outcome typed={typed} found={items.length} isSearching={isSearching} />
      </div>
    </dialog>
  );
}

/** Screens and actions of this page, and records from the server. */
function usePaletteGroups(user: UserInfo, typed: string): { groups: PaletteGroup[]; isSearching: boolean } {
  const { pathname } = useLocation();
  const { setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  const records = useFoundRecords(user, typed);
  const { data: dashboard } = useQuery(dashboardQuery);
  const steps = stepItems(dashboard?.status);
  const toDo = { title: 'To do', items: typed.trim() === '' ? steps.slice(0, 1) : matching(steps, typed) };
  const screens = { title: 'Screens', items: matching(screenItems(user), typed) };
  const actions = { title: 'Actions', items: matching(actionItems({ user, pathname, setColorScheme, signOut }), typed) };
  // Without typed text actions come first, because the sidebar already shows the screens.
  const groups = typed.trim() === '' ? [toDo, actions, screens] : [screens, toDo, actions, ...records.groups];
  return { groups: groups.filter(({ items }) => items.length > 0), isSearching: records.isSearching };
}

interface ResultsProps {
  id: string;
  groups: readonly PaletteGroup[];
  current: PaletteItem | undefined;
  optionId: (item: string) => string;
  onTake: (item: PaletteItem) => void;
}

function Results({ id, groups, current, optionId, onTake }: ResultsProps) {
  return (
    <div id={id} role="listbox" aria-label="Results" className="palette__results off-empty">
      {groups.map(({ title, items }) => (
        // biome-ignore lint/a11y/useSemanticElements: options of a listbox need groups, not fieldsets
        <div key={title} role="group" aria-label={title}>
          <p className="palette__title tiny medium faint" aria-hidden="true">
            {title}
          </p>
          {items.map((item) => (
            // The field keeps the focus and handles the keys.
            <Row
              key={item.id}
              id={optionId(item.id)}
              role="option"
              aria-selected={item === current || item.id === current?.id}
              wrap={false}
              gap="3"
              className="palette__item rounded-s muted base pointer"
              onClick={() => onTake(item)}
            >
              <item.icon size={18} stroke={1.7} aria-hidden="true" />
              <bdi className="palette__name shrink ink medium break">{item.title}</bdi>
              {item.detail && <bdi className="palette__detail shrink muted small nowrap">{item.detail}</bdi>}
            </Row>
          ))}
        </div>
      ))}
    </div>
  );
}

function Outcome({ typed, found, isSearching }: { typed: string; found: number; isSearching: boolean }) {
  const isEmpty = found === 0 && !isSearching;
  return (
    <p role="status" className={isEmpty ? 'palette__none' : 'visually-hidden'}>
      {isSearching ? 'Searching…' : isEmpty ? `Nothing matches “${typed.trim()}”. Try another word.` : `${found} results`}
    </p>
  );
}
