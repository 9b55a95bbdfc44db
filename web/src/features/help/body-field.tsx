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
import { Markdown } from '#ui/markdown.tsx';
import { type MarkKind, marked } from './marked.ts';

const TOOLS: readonly { kind: MarkKind; label: string; icon: TablerIcon }[] = [
  { kind: 'heading', label: 'Heading', icon: IconHeading },
  { kind: 'bold', label: 'Bold', icon: IconBold },
  { kind: 'list', label: 'List', icon: IconList },
  { kind: 'steps', label: 'Steps', icon: IconListNumbers },
  { kind: 'link', label: 'Link', icon: IconLink },
  { kind: 'warning', label: 'Warning', icon: IconAlertTriangle },
];

const TABS = [
  { name: 'edit', label: 'Edit' },
  { name: 'preview', label: 'Preview' },
] as const;

interface BodyFieldProps {
  value: string;
  error: ReactNode;
  onChange: (body: string) => void;
}

/** The text of a help page: one tab for editing with a toolbar, and one for the preview. */
export function BodyField({ value, error, onChange }: BodyFieldProps) {
  const [tab, setTab] = useState<(typeof TABS)[number]['name']>('edit');
  const field = useRef<HTMLTextAreaElement>(null);
  // A refused text is shown in the editor, where it can be corrected.
  const shown = error ? 'edit' : tab;

  function apply(kind: MarkKind) {
    const area = field.current;
    if (!area) return;
    const next = marked({ text: value, start: area.selectionStart, end: area.selectionEnd }, kind);
    flushSync(() => onChange(next.text));
    area.focus();
    area.setSelectionRange(next.start, next.end);
  }

  return (
    <div className="help-body">
      <div className="help-body__bar">
        <div role="tablist" aria-label="Write or preview" className="help-body__tabs">
          {TABS.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`help-body-${name}`}
              aria-selected={shown === name}
              aria-controls="help-body-panel"
              tabIndex={shown === name ? 0 : -1}
              onClick={() => setTab(name)}
              onKeyDown={(event) => {
                if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return;
                const next = name === 'edit' ? 'preview' : 'edit';
                setTab(next);
                document.getElementById(`help-body-${next}`)?.focus();
              }}
            >
              {label}
            </button>
          ))}
        </div>
        {shown === 'edit' && (
          <div role="toolbar" aria-label="Marks" className="help-body__tools">
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
          </div>
        )}
      </div>
      <div role="tabpanel" id="help-body-panel" aria-labelledby={`help-body-${shown}`}>
        {shown === 'edit' ? (
          <Textarea
            ref={field}
            aria-label="Article"
            name="body"
            size="md"
            rows={18}
            maxLength={ARTICLE_LENGTH_MAXIMUM}
            value={value}
            error={error}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        ) : (
          <section className="help-body__preview" aria-label="Preview">
            {value.trim() === '' ? <p className="sub">Your text appears here as customers see it.</p> : <Markdown text={value} />}
          </section>
        )}
      </div>
    </div>
  );
}
