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
import { useCheck } from './scam-check.queries.ts';
import { takeShared } from './shared-message.ts';
import { DomainList, ProviderLists } from './trusted-domains.tsx';
import './scam-check.css';

/** The message that is checked, and its answer. */
function useChecking() {
  const check = useCheck();
  const [checked, setChecked] = useState<ToCheck>();
  function start(what: ToCheck, keep: boolean) {
    setChecked(what);
    check.mutate({ what, keep });
  }
  return { check, checked, start, clear: () => setChecked(undefined) };
}

export function ScamCheckPage() {
  const { check, checked, start, clear } = useChecking();
  const [text, setText] = useState('');
  const [file, setFile] = useState<File>();
  const [keep, setKeep] = useState(false);
  const [missing, setMissing] = useState(false);
  const user = useSession().session?.user_info;
  const shared = useSharedMessage();

  function take(what: ToCheck) {
    if ('text' in what) setText(what.text.slice(0, SCAM_TEXT_MAXIMUM));
    else setFile(what.file);
    start(what, false);
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was handed over is taken once, when the page opens
  useEffect(() => {
    const handed = takeToCheck();
    if (handed) take(handed);
    else void shared().then((one) => (one === 'gone' ? setMissing(true) : one && take(one)));
  }, []);

  const result = check.data && checked ? check.data : undefined;
  return (
    <Page
      title="Scam check"
      sentence="Is it real? Paste a message, a link or an email, or choose a picture. You see what’s wrong with it."
      aside={<Link to="/help/is-this-real">How it works</Link>}
    >
      {missing && <Refusal error>The shared message is gone. Share it again.</Refusal>}
      <CheckForm
        {...{ text, file, keep }}
        busy={check.isPending}
        error={check.error}
        onText={setText}
        onFile={setFile}
        onKeep={setKeep}
        onSubmit={() => start(file ? { file } : { text }, keep)}
        onEdit={() => {
          if (!check.isPending) check.reset();
          clear();
        }}
      />
      {result && checked && (
        <AnswerView
          answer={result}
          action={<ShowCheck key={result.id} id={result.id} checked={checked} onKept={check.mutateAsync} />}
        />
      )}
      <KeptChecks />
      <DomainList />
      {user && may.administrate(user) && <ProviderLists />}
    </Page>
  );
}

/** Takes a message that another program of the device shared with this one; undefined without one. */
function useSharedMessage() {
  const [search, setSearch] = useSearchParams();
  const id = search.get('shared');
  return async (): Promise<ToCheck | 'gone' | undefined> => {
    if (id === null) return undefined;
    setSearch({}, { replace: true });
    return (await takeShared(id)) ?? 'gone';
  };
}

interface CheckFormProps {
  text: string;
  file: File | undefined;
  keep: boolean;
  busy: boolean;
  error: Error | null;
  onText: (text: string) => void;
  onFile: (file: File | undefined) => void;
  onKeep: (keep: boolean) => void;
  onSubmit: () => void;
  onEdit: () => void;
}

const ACCEPTED = 'image/*,.eml,.msg,.pdf,.vcf,.ics,.txt,message/rfc822,application/pdf,text/plain';

function CheckForm({ text, file, keep, busy, error, onText, onFile, onKeep, onSubmit, onEdit }: CheckFormProps) {
  const picker = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<string>();
  function choose(chosen: File | undefined) {
    if (chosen === undefined) return;
    onEdit();
    const isTooLarge = chosen.size > SCAM_FILE_MAXIMUM;
    setFault(isTooLarge ? `Choose a file of at most ${describeBytes(SCAM_FILE_MAXIMUM)}.` : undefined);
    onFile(isTooLarge ? undefined : chosen);
  }
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
          choose(event.dataTransfer.files[0]);
        }}
      >
        {file === undefined ? (
          <Textarea
            label="Message, link or email"
            placeholder="Paste it here"
            rows={5}
            maxLength={SCAM_TEXT_MAXIMUM}
            value={text}
            onPaste={(event) => {
              const [pasted] = event.clipboardData.files;
              if (pasted === undefined) return;
              event.preventDefault();
              choose(pasted);
            }}
            onChange={(event) => {
              onEdit();
              onText(event.currentTarget.value);
            }}
            error={
              text.length >= SCAM_TEXT_MAXIMUM ? `Only the first ${formatNumber(SCAM_TEXT_MAXIMUM)} characters fit.` : undefined
            }
          />
        ) : (
          <p className="scam-form__file">
            <FileName name={file.name} />
            <span className="num sub">{describeBytes(file.size)}</span>
            <Button
              variant="text"
              size="s"
              onClick={() => {
                onEdit();
                onFile(undefined);
              }}
            >
              Remove
            </Button>
          </p>
        )}
        <input
          ref={picker}
          type="file"
          hidden
          aria-label="Choose a picture or an email"
          accept={ACCEPTED}
          onChange={(event) => {
            choose(event.currentTarget.files?.[0]);
            event.currentTarget.value = '';
          }}
        />
        <div className="scam-form__end">
          <Submit disabled={file === undefined && text.trim() === ''}>Check it</Submit>
          <Button variant="quiet" onClick={() => picker.current?.click()}>
            Choose a file
          </Button>
          <Toggle label="Keep the answer" isOn={keep} onChange={onKeep} />
        </div>
        <p className="sub">We never open links, and we don’t keep what you send. Nothing leaves this server.</p>
        <Refusal error={fault !== undefined}>{fault}</Refusal>
        <Refusal error={error} />
      </Form>
    </Card>
  );
}

interface ShowCheckProps {
  /** Of the kept answer; null where it isn’t kept. */
  id: string | null;
  checked: ToCheck;
  onKept: (given: { what: ToCheck; keep: boolean }) => Promise<{ id: string | null }>;
}

/** Shows the answer to support, which reads a kept one: it is kept first. */
function ShowCheck({ id, checked, onKept }: ShowCheckProps) {
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  async function show() {
    setBusy(true);
    const kept =
      id ??
      (await onKept({ what: checked, keep: true }).then(
        ({ id: made }) => made,
        () => null,
      ));
    setBusy(false);
    if (kept === null) return;
    const name = 'text' in checked ? checked.text.slice(0, 60) : checked.file.name;
    void navigate(`/chat?${new URLSearchParams({ share: `scam_check:${kept}`, name })}`);
  }
  return (
    <Button variant="quiet" loading={busy} onClick={() => void show()}>
      Ask support
    </Button>
  );
}
