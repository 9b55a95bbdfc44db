import { Textarea } from '@mantine/core';
import { describeBytes, formatNumber } from '@palisade/contract/intl';
import { may } from '@palisade/contract/may';
import { SCAM_FILE_MAXIMUM, SCAM_TEXT_MAXIMUM } from '@palisade/contract/scam-check';
import { useEffect, useRef, useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { useSession } from '#api/session.ts';
import { type ToCheck, takeToCheck } from '#domain/scam/to-check.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { FileName } from '#ui/file-name.tsx';
import { Form } from '#ui/form.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Page } from '#ui/page.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { AnswerView } from './answer-view.tsx';
import { KeptChecks } from './kept-checks.tsx';
import { type CheckChoices, type CheckResult, useCheck, useKeep } from './scam-check.queries.ts';
import { takeShared } from './shared-message.ts';
import { DomainList, ProviderLists } from './trusted-domains.tsx';
import './scam-check.css';

/** Maximum number of files at once, because a person may check 30 messages a minute. */
const FILES_MAXIMUM = 10;

/** Values of the form. */
interface Filled {
  text: string;
  files: readonly File[];
  /** A sentence for each file that was left out. */
  left_out: readonly string[];
}
const NOTHING: Filled = { text: '', files: [], left_out: [] };

const filledWith = (what: ToCheck): Filled =>
  'text' in what ? { ...NOTHING, text: what.text.slice(0, SCAM_TEXT_MAXIMUM) } : withFiles([what.file]);

/** Splits files into those that can be checked and sentences about the others. */
function withFiles(files: readonly File[]): Filled {
  const [small, large] = [
    files.filter(({ size }) => size <= SCAM_FILE_MAXIMUM),
    files.filter(({ size }) => size > SCAM_FILE_MAXIMUM),
  ];
  return {
    text: '',
    files: small.slice(0, FILES_MAXIMUM),
    left_out: [
      ...large.map(({ name }) => `${name} is left out: choose files of at most ${describeBytes(SCAM_FILE_MAXIMUM)}.`),
      ...small.slice(FILES_MAXIMUM).map(({ name }) => `${name} is left out: choose at most ${FILES_MAXIMUM} files.`),
    ],
  };
}

const toCheck = ({ text, files }: Filled): ToCheck[] => (files.length === 0 ? [{ text }] : files.map((file) => ({ file })));

export function ScamCheckPage() {
  const check = useCheck();
  const [filled, setFilled] = useState(NOTHING);
  const [choices, setChoices] = useState<CheckChoices>({ keep: false, ask_dns: false });
  const [arrival, setArrival] = useState<'elsewhere' | 'gone'>();
  const user = useSession().session?.user_info;
  const shared = useSharedMessage();

  // biome-ignore lint/correctness/useExhaustiveDependencies: passed content is taken once, when the page opens
  useEffect(() => {
    // Another screen passes content when the person presses "Check this" there, so the check starts at once.
    const handed = takeToCheck();
    if (handed) {
      setFilled(filledWith(handed));
      check.mutate({ whats: [handed], ...choices });
    } else
      void shared().then((one) => {
        if (one === undefined) return;
        setArrival(one === 'gone' ? 'gone' : 'elsewhere');
        if (one !== 'gone') setFilled(one.files.length > 0 ? withFiles(one.files) : filledWith({ text: one.text }));
      });
  }, []);

  return (
    <Page
      title="Scam check"
      sentence="Is it real? Paste a message, a link or an email, or choose pictures or files. We tell you if it looks like a scam, and why."
      aside={<Link to="/help/is-this-real">How it works</Link>}
    >
      {arrival === 'gone' && <Refusal error>The shared message is gone. Share it again.</Refusal>}
      {arrival === 'elsewhere' && (
        <p role="status">This came from another app or website. Nothing is checked until you press “Check it”.</p>
      )}
      <CheckForm
        filled={filled}
        choices={choices}
        busy={check.isPending}
        error={check.error}
        onChoose={setChoices}
        onSubmit={() => {
          setArrival(undefined);
          check.mutate({ whats: toCheck(filled), ...choices });
        }}
        onFill={(next) => {
          if (!check.isPending) check.reset();
          setFilled(next);
        }}
      />
      {!check.isPending && <Results results={check.data ?? []} askDns={choices.ask_dns} />}
      <KeptChecks />
      <DomainList />
      {user && may.administrate(user) && <ProviderLists />}
    </Page>
  );
}

/** The result of each message. */
function Results({ results, askDns }: { results: readonly CheckResult[]; askDns: boolean }) {
  return results.map((result, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the order of the results is fixed
    <Stack key={index} as="section" gap="3" className="shrink">
      {results.length > 1 && 'file' in result.what && (
        <h2>
          <FileName name={result.what.file.name} />
        </h2>
      )}
      {'error' in result ? (
        <Refusal error={result.error} />
      ) : (
        <AnswerView
          answer={result.answer}
          {...('text' in result.what && { text: result.what.text })}
          isFirst={index === 0}
          action={<ShowCheck key={result.answer.id} id={result.answer.id} checked={result.what} askDns={askDns} />}
        />
      )}
    </Stack>
  ));
}

/** Takes a message that another program on the device has shared; undefined without one. */
function useSharedMessage() {
  const [search, setSearch] = useSearchParams();
  const id = search.get('shared');
  return async () => {
    if (id === null) return undefined;
    setSearch({}, { replace: true });
    return (await takeShared(id)) ?? ('gone' as const);
  };
}

interface CheckFormProps {
  filled: Filled;
  choices: CheckChoices;
  busy: boolean;
  error: Error | null;
  onFill: (filled: Filled) => void;
  onChoose: (choices: CheckChoices) => void;
  onSubmit: () => void;
}

const ACCEPTED = 'image/*,.eml,.msg,.p7m,.pdf,.vcf,.ics,.txt,.html,message/rfc822,application/pdf,text/plain,text/html';

function CheckForm({ filled, choices, busy, error, onFill, onChoose, onSubmit }: CheckFormProps) {
  const picker = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const { text, files, left_out } = filled;
  const choose = (chosen: readonly File[]) => chosen.length > 0 && onFill(withFiles(chosen));
  return (
    <Card title="What did you get?" level="raised">
      <Form
        gap="3"
        className="scam-form"
        error={error}
        busy={busy}
        onSubmit={onSubmit}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          if (event.dataTransfer.files.length === 0) return;
          event.preventDefault();
          choose([...event.dataTransfer.files]);
        }}
      >
        {files.length === 0 ? (
          <Textarea
            ref={field}
            className="growing"
            label="Message, link, email, or phone number"
            placeholder="Paste it here"
            rows={5}
            maxLength={SCAM_TEXT_MAXIMUM}
            value={text}
            onPaste={(event) => {
              if (event.clipboardData.files.length === 0) return;
              event.preventDefault();
              choose([...event.clipboardData.files]);
            }}
            onChange={(event) => onFill({ ...NOTHING, text: event.currentTarget.value })}
            error={
              text.length >= SCAM_TEXT_MAXIMUM ? `Only the first ${formatNumber(SCAM_TEXT_MAXIMUM)} characters fit.` : undefined
            }
          />
        ) : (
          files.map((file, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two files may have equal names
            <Row key={index} as="p" gap="2" className="surface-plain pad-m shrink">
              <FileName name={file.name} />
              <span className="num sub">{describeBytes(file.size)}</span>
              <Button
                variant="text"
                size="s"
                aria-label={files.length > 1 ? `Remove ${file.name}` : undefined}
                onClick={() => onFill(withFiles(files.filter((other) => other !== file)))}
              >
                Remove
              </Button>
            </Row>
          ))
        )}
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Choose a picture or an email"
          accept={ACCEPTED}
          onChange={(event) => {
            choose([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = '';
          }}
        />
        <Row gap="2">
          <Button type="submit" disabled={busy || (files.length === 0 && text.trim() === '')} aria-busy={busy}>
            {busy ? 'Checking…' : 'Check it'}
          </Button>
          <Button variant="quiet" onClick={() => picker.current?.click()}>
            Choose files
          </Button>
          {files.length > 0 && (
            <Toggle
              label="Ask the DNS who sent an email"
              isOn={choices.ask_dns}
              onChange={(ask_dns) => onChoose({ ...choices, ask_dns })}
            />
          )}
          <span className="push">
            <Toggle label="Keep the result in my list" isOn={choices.keep} onChange={(keep) => onChoose({ ...choices, keep })} />
          </span>
        </Row>
        {files.length === 0 && text === '' && (
          <Examples
            onChoose={(example) => {
              onFill({ ...NOTHING, text: example });
              field.current?.focus();
            }}
          />
        )}
        <WhatLeaves choices={choices} hasFiles={files.length > 0} />
        {left_out.map((sentence) => (
          <Refusal key={sentence} error>
            {sentence}
          </Refusal>
        ))}
        <Refusal error={error} />
      </Form>
    </Card>
  );
}

const EXAMPLES = [
  {
    label: 'A message',
    text: 'DHL: your parcel is on hold. Pay the customs fee of €1.99 within 24 hours: https://dhl.fee-portal.example/pay',
  },
  { label: 'A link', text: 'https://paypal.com.account-check.example/login' },
  { label: 'A phone number', text: '+1 900 555 0199' },
];

/** Examples that fill the field; the person still submits it. */
function Examples({ onChoose }: { onChoose: (text: string) => void }) {
  return (
    <Row as="fieldset" gap="2" aria-label="Examples">
      <span className="small muted">Nothing to check? Try an example:</span>
      {EXAMPLES.map(({ label, text }) => (
        <Button key={label} variant="quiet" size="s" onClick={() => onChoose(text)}>
          {label}
        </Button>
      ))}
    </Row>
  );
}

/** Says whether the message is stored, and which DNS queries leave the server. */
function WhatLeaves({ choices: { keep, ask_dns }, hasFiles }: { choices: CheckChoices; hasFiles: boolean }) {
  return (
    <p className="sub">
      {[
        'We never open links.',
        keep
          ? 'We keep the result and the first words. With Anti-Hacking, a scam is listed there too.'
          : 'We don’t keep what you send, or the result.',
        ask_dns && hasFiles
          ? 'For an email, up to two DNS questions about the sender’s domain leave this server. Its owner may learn that you checked the email.'
          : 'Nothing leaves this server.',
      ].join(' ')}
    </p>
  );
}

interface ShowCheckProps {
  /** Id of the stored check; null if it is not stored. */
  id: string | null;
  checked: ToCheck;
  askDns: boolean;
}

/** Shows the check to support. Support can read only stored checks, so it is stored first. */
function ShowCheck({ id, checked, askDns }: ShowCheckProps) {
  const keep = useKeep();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  async function show() {
    setBusy(true);
    const kept =
      id ??
      (await keep.mutateAsync({ what: checked, ask_dns: askDns }).then(
        ({ id: made }) => made,
        () => null,
      ));
    setBusy(false);
    if (kept === null) return;
    const name = 'text' in checked ? checked.text.slice(0, 60) : checked.file.name;
    void navigate(`/chat?${new URLSearchParams({ share: `scam_check:${kept}`, name })}`);
  }
  return (
    <>
      <Button variant="quiet" loading={busy} onClick={() => void show()}>
        Ask support
      </Button>
      <Refusal error={keep.error} />
    </>
  );
}
