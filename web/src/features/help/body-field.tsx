import { Textarea } from '@mantine/core';
import { ARTICLE_LENGTH_MAXIMUM } from '@palisade/contract/help';
import {
  IconAlertTriangle,
  IconBold,
  IconHeading,
  IconLink,
  IconList,
  IconListNumbers,
  type TablerIcon,
} from '@tabler/icons-react';
import { type ReactNode, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Grid, Row } from '#ui/layout.tsx';
import { StateFilter } from '#ui/list-filters.tsx';
import { Markdown } from '#ui/markdown.tsx';
import { useIsPhone } from '#ui/use-is-phone.ts';
import { type MarkKind, marked } from './marked.ts';

const TOOLS: readonly { kind: MarkKind; label: string; icon: TablerIcon }[] = [
  { kind: 'heading', label: 'Heading', icon: IconHeading },
  { kind: 'bold', label: 'Bold', icon: IconBold },
  { kind: 'list', label: 'List', icon: IconList },
  { kind: 'steps', label: 'Steps', icon: IconListNumbers },
  { kind: 'link', label: 'Link', icon: IconLink },
  { kind: 'warning', label: 'Warning', icon: IconAlertTriangle },
];

interface BodyFieldProps {
  value: string;
  error: ReactNode;
  onChange: (body: string) => void;
}

/** The text of a help page with a toolbar and a preview beside it; on a phone only one of them is visible. */
export function BodyField({ value, error, onChange }: BodyFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const isPhone = useIsPhone();
  const [shown, setShown] = useState<'write' | 'preview'>('write');
  const isWriting = !isPhone || shown === 'write';

  function apply(kind: MarkKind) {
    const area = field.current;
    if (!area) return;
    const next = marked({ text: value, start: area.selectionStart, end: area.selectionEnd }, kind);
    flushSync(() => onChange(next.text));
    area.focus();
    area.setSelectionRange(next.start, next.end);
  }

  return (
    <div>
      {isPhone && (
        <Row className="below-2">
          <StateFilter
            label="Write or preview"
            value={shown}
            options={[
              { value: 'write', label: 'Write' },
              { value: 'preview', label: 'Preview' },
            ]}
            onChoose={(chosen) => setShown(chosen ?? 'write')}
          />
        </Row>
      )}
      <Grid columns={isPhone ? undefined : '2'} gap="0" className="help-body rounded">
        {isWriting && (
          <Row role="toolbar" aria-label="Marks" gap="1" className="pad-xs line-below">
            {TOOLS.map(({ kind, label, icon: Icon }) => (
              <button
                key={kind}
                type="button"
                className="icon-button"
                aria-label={label}
                title={label}
                // Keeps the selection in the text.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => apply(kind)}
              >
                <Icon size={18} stroke={1.7} aria-hidden="true" />
              </button>
            ))}
          </Row>
        )}
        {!isPhone && <Row className="help-body__title pad-m line-below small medium muted">As customers see it</Row>}
        <div hidden={!isWriting}>
          <Textarea
            ref={field}
            aria-label="Article"
            name="body"
            size="md"
            rows={14}
            maxLength={ARTICLE_LENGTH_MAXIMUM}
            value={value}
            error={error}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        </div>
        {!(isPhone && isWriting) && (
          <section className="help-body__preview scroll pad-l" aria-label="Preview">
            {value.trim() === '' ? <p className="sub">Your text appears here.</p> : <Markdown text={value} />}
          </section>
        )}
      </Grid>
    </div>
  );
}
