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
import { Form, Submit } from '#ui/form.tsx';
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
      sentence="Is it real? Paste a message, a link or an email, or choose pictures or files. You see what’s wrong with them."
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
    <section key={index} className="scam-result">
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
          isFirst={index === 0}
          action={<ShowCheck key={result.answer.id} id={result.answer.id} checked={result.what} askDns={askDns} />}
        />
      )}
    </section>
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
  const { text, files, left_out } = filled;
  const choose = (chosen: readonly File[]) => chosen.length > 0 && onFill(withFiles(chosen));
  return (
    <Card title="What did you get?">
      <Form
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
            label="Message, link or email"
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
            <p key={index} className="scam-form__file">
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
            </p>
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
        <div className="scam-form__end">
          <Submit disabled={files.length === 0 && text.trim() === ''}>Check it</Submit>
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
          <Toggle label="Keep the answer" isOn={choices.keep} onChange={(keep) => onChoose({ ...choices, keep })} />
        </div>
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

/** States whether the message is stored, and which queries leave the server. */
function WhatLeaves({ choices: { keep, ask_dns }, hasFiles }: { choices: CheckChoices; hasFiles: boolean }) {
  return (
    <p className="sub">
      {[
        'We never open links.',
        keep ? 'We keep the answer and the first words.' : 'We don’t keep what you send.',
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
