import { Tabs } from '@mantine/core';
import { isSameEmail } from '@palisade/contract/email';
import { formatNumber, plural } from '@palisade/contract/intl';
import { shownEmail } from '@palisade/contract/shown-email';
import type { Template, UserPlanRequest } from '@palisade/contract/subscription';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useLocation, useSearchParams } from 'react-router';
import { sentenceOf } from '#api/call.ts';
import { useKeptState } from '#api/kept-values.ts';
import { Button } from '#ui/button.tsx';
import { Page } from '#ui/page.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import '#ui/segments.css';
import { AssignForm } from './assign-form.tsx';
import {
  type AssignDraft,
  assignDraftSchema,
  draftOfRequest,
  draftOfTemplate,
  EMPTY_ASSIGNMENT,
  EMPTY_TEMPLATE,
  templateDraftSchema,
} from './drafts.ts';
import { ManageTab } from './manage-tab.tsx';
import { type Message, MessageLine } from './message-line.tsx';
import { allPlanRequestsQuery, subscriptionsQuery, templatesQuery } from './subscriptions.queries.ts';
import { TemplatesTab } from './templates-tab.tsx';

/** The open tab is in the address (`?tab=`), for reloads and links. */
const TABS = ['assign', 'templates', 'manage'] as const;

const LOADED: Message = { tone: 'good', text: 'Template loaded for assignment' };

/** The administrators' screen with tabs. Typed values survive a change of tab, navigation and a reload. */
export function AdminManager() {
  const { key } = useLocation();
  const [search, setSearch] = useSearchParams();
  const named = TABS.find((known) => known === search.get('tab')) ?? 'assign';
  // The pressed tab is shown at once; the address follows.
  const [pressed, setPressed] = useState<{ tab: string | null; key: string }>();
  const tab = pressed?.key === key ? pressed.tab : named;
  const [assignment, setAssignment] = useKeptState('assign', assignDraftSchema, EMPTY_ASSIGNMENT);
  // The recipient in a link from a person's record.
  const email = search.get('email');
  const taken = useRef<string>(undefined);
  useEffect(() => {
    // Only once, because the address changes later.
    if (email === null || taken.current === email) return;
    taken.current = email;
    const before = assignment.user_email.trim();
    const question = `Your unsent assignment is for ${shownEmail(before)}. Change it to ${shownEmail(email)}?`;
    if (before === '' || isSameEmail(before, email) || window.confirm(question))
      setAssignment({ ...assignment, user_email: email, request_id: undefined });
    setSearch({ tab: 'assign' }, { replace: true, preventScrollReset: true });
  }, [email, assignment, setAssignment, setSearch]);
  const [template, setTemplate] = useKeptState('template', templateDraftSchema, EMPTY_TEMPLATE);
  const [message, setMessage] = useState<Message>();
  const root = useRef<HTMLDivElement>(null);
  const requests = useQuery(allPlanRequestsQuery);
  const failures = [
    { title: 'Error fetching subscriptions', ...useQuery(subscriptionsQuery) },
    { title: 'Error fetching templates', ...useQuery(templatesQuery) },
    { title: 'Error fetching plan requests', ...requests },
  ].filter(({ error }) => error !== null);

  function show(next: string | null) {
    setPressed({ tab: next, key });
    setSearch({ tab: next ?? 'assign' }, { replace: true, preventScrollReset: true });
  }

  function changeTab(next: string | null) {
    setMessage(undefined);
    show(next);
  }

  function load(draft: AssignDraft) {
    // The pressed button is unmounted with its tab, so the focus moves to the next step.
    flushSync(() => {
      setAssignment(draft);
      setMessage(LOADED);
      show('assign');
    });
    root.current?.querySelector<HTMLElement>('[name="user_email"]')?.focus();
  }

  const waiting = requests.data?.length ?? 0;
  return (
    <Page
      title="Subscription Manager"
      sentence="Assign plans, manage your offer, and see who has which plan."
      aside={
        waiting > 0 &&
        tab !== 'manage' && (
          <Button variant="quiet" size="s" onClick={() => changeTab('manage')}>
            <span className="amber">
              {plural(waiting, { one: '1 request waits', other: `${formatNumber(waiting)} requests wait` })}
            </span>
          </Button>
        )
      }
    >
      <Tabs ref={root} value={tab} onChange={changeTab} keepMounted={false}>
        <Tabs.List className="segments below-4" aria-label="Subscription manager">
          <Tabs.Tab value="assign">Assign Subscription</Tabs.Tab>
          <Tabs.Tab value="templates">Templates</Tabs.Tab>
          <Tabs.Tab value="manage">
            Manage Subscriptions{' '}
            {waiting > 0 && (
              <span className="badge num" data-tone="attention" aria-hidden="true">
                {formatNumber(waiting)}
              </span>
            )}
          </Tabs.Tab>
        </Tabs.List>
        <MessageLine message={message} />
        {failures.map(({ title, error, refetch }) => (
          <div key={title} className="below-4">
            <ErrorNotice title={title} sentence={sentenceOf(error)} onRetry={() => void refetch()} />
          </div>
        ))}
        <Tabs.Panel value="assign">
          <AssignForm draft={assignment} onChange={setAssignment} onMessage={setMessage} />
        </Tabs.Panel>
        <Tabs.Panel value="templates">
          <TemplatesTab
            draft={template}
            onChange={setTemplate}
            onMessage={setMessage}
            onUse={(chosen: Template) => load(draftOfTemplate(chosen, assignment.user_email))}
          />
        </Tabs.Panel>
        <Tabs.Panel value="manage">
          <ManageTab onMessage={setMessage} onLoadRequest={(request: UserPlanRequest) => load(draftOfRequest(request))} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
