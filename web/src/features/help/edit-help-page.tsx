import { Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useMediaQuery } from '@mantine/hooks';
import type { Article, ArticleWritten } from '@palisade/contract/help';
import { IconArrowLeft, IconBook, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { z } from 'zod';
import { keepDraft } from '#api/drafts.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { keepValues, readKept } from '#api/kept-values.ts';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { Check } from '#ui/check.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Listed } from '#ui/listed.tsx';
import { Page } from '#ui/page.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { EmptyState } from '#ui/states.tsx';
import { BodyField } from './body-field.tsx';
import { allArticlesQuery, useDeleteArticle, useWriteArticle } from './help.queries.ts';
import './help.css';

/** Accepts incomplete input; the server validates the saved page. */
const writtenSchema = z.object({
  slug: z.string(),
  title: z.string(),
  summary: z.string(),
  body: z.string(),
  is_published: z.boolean(),
});

/** Storage key of the unsaved text of a page; undefined id for a new page. */
const placeOf = (id: string | undefined) => `help.${id ?? 'new'}`;

const NEW: ArticleWritten = { slug: '', title: '', summary: '', body: '', is_published: false };

/** Below this width the form has no room beside the list, so only one of them is shown. */
const NARROW = '(max-width: 1180px)';

/** The screen on which administrators write help pages. */
export function EditHelpPage() {
  return (
    <Page
      title="Edit help pages"
      sentence="Answer one question per page, in plain words."
      aside={
        <ScreenLink to="/help" variant="quiet" size="s">
          View as a customer
        </ScreenLink>
      }
    >
      <Editor />
    </Page>
  );
}

function Editor() {
  const { data, error, refetch } = useQuery(allArticlesQuery);
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false }) ?? false;
  // In the address, so that the Back button of a phone returns to the list.
  const [search, setSearch] = useSearchParams();
  const [savedId, setSavedId] = useState<string>();
  const isChanged = useRef(false);
  // With room for a page beside the list, the first page is open.
  const openId = search.get('page') ?? (isNarrow ? undefined : data?.[0]?.id);
  const open = data?.find(({ id }) => id === openId);
  const isNew = openId === 'new';
  const isOpen = open !== undefined || isNew;
  const box = useFocusFollowing(isNarrow ? openId : undefined);

  function show(page: string | undefined, replace = false) {
    setSearch(page === undefined ? {} : { page }, { replace, preventScrollReset: !isNarrow });
  }

  function askAndShow(page?: string) {
    if (page === openId) return;
    if (isChanged.current && !window.confirm('You have unsaved changes. Leave this page?')) return;
    if (isChanged.current) keepDraft(placeOf(open?.id), '');
    show(page);
  }

  return (
    <Grid gap="4" align="start" className="help-editor" ref={box}>
      {!(isNarrow && isOpen) && (
        <Card
          title="Help pages"
          action={
            <Button size="s" data-page="new" icon={IconPlus} stroke={2} onClick={() => askAndShow('new')}>
              New page
            </Button>
          }
        >
          <Listed
            of="the help pages"
            list={{ rows: data, error, refetch }}
            empty={
              <EmptyState icon={IconBook} title="No help pages yet" sentence="Start with the question customers ask most." />
            }
          >
            {(articles) => (
              <Stack as="ul" gap="0" className="help-editor__list scroll" aria-label="All help pages">
                {articles.map(({ id, title, is_published }) => (
                  <li key={id}>
                    <Row
                      as="button"
                      wrap={false}
                      gap="2"
                      justify="between"
                      className="bare hover pad-s full rounded-s ink base break"
                      type="button"
                      data-page={id}
                      aria-pressed={id === openId}
                      onClick={() => askAndShow(id)}
                    >
                      <b className="medium">{title}</b>
                      {!is_published && <Badge tone="plain">Draft</Badge>}
                    </Row>
                  </li>
                ))}
              </Stack>
            )}
          </Listed>
        </Card>
      )}
      {isOpen && (
        <ArticleForm
          key={openId}
          article={open}
          isSaved={openId === savedId}
          isChanged={isChanged}
          onBack={isNarrow ? () => askAndShow() : undefined}
          onSaved={(id) => {
            show(id, true);
            setSavedId(id);
          }}
          onEdited={() => setSavedId(undefined)}
          onDeleted={() => show(undefined, true)}
        />
      )}
    </Grid>
  );
}

/** On narrow screens, moves the focus between list and form: to the Back button, and back to the page that was open. */
function useFocusFollowing(openId: string | undefined) {
  const box = useRef<HTMLDivElement>(null);
  const previous = useRef(openId);
  useEffect(() => {
    const last = previous.current;
    previous.current = openId;
    if (last === openId) return;
    const place = openId === undefined ? `[data-page="${last}"]` : '[data-back]';
    box.current?.querySelector<HTMLElement>(place)?.focus();
  }, [openId]);
  return box;
}

/** "What now?" becomes "what-now". */
function slugOf(title: string): string {
  return title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .replaceAll(/^-+|-+$/gu, '')
    .slice(0, 80);
}

interface ArticleFormProps {
  /** Undefined for a new page. */
  article: Article | undefined;
  /** True if the page was just saved and not edited since. */
  isSaved: boolean;
  /** Whether the form has unsaved changes. */
  isChanged: RefObject<boolean>;
  /** Returns to the list; undefined if the list is beside the form. */
  onBack: (() => void) | undefined;
  onSaved: (id: string) => void;
  onEdited: () => void;
  onDeleted: () => void;
}

function ArticleForm({ article, isSaved, isChanged, onBack, onSaved, onEdited, onDeleted }: ArticleFormProps) {
  const place = placeOf(article?.id);
  const initial = writtenSchema.parse(article ?? NEW);
  // Unsaved text from before a reload or a navigation.
  const [kept] = useState(() => readKept(place, writtenSchema));
  const [isKept, setIsKept] = useState(kept !== undefined);
  const form = useForm<ArticleWritten>({
    initialValues: kept ?? initial,
    onValuesChange: (values) => keepValues(place, values, initial),
  });
  const write = useWriteArticle(article?.id, () => keepDraft(place, ''));
  const remove = useDeleteArticle();
  const isDirty = form.isDirty() || isKept;

  useEffect(() => {
    isChanged.current = isDirty;
    return () => {
      isChanged.current = false;
    };
  }, [isChanged, isDirty]);

  function save(values: ArticleWritten) {
    const { title, summary, body, is_published } = values;
    const slug = values.slug.trim() === '' ? slugOf(title) : values.slug;
    write.mutate(
      { slug, title, summary, body, is_published },
      {
        onSuccess: ({ id }) => {
          form.resetDirty(values);
          setIsKept(false);
          onSaved(id);
        },
        onError: (error) => form.setErrors(fieldMessagesOf(error)),
      },
    );
  }

  function askAndRemove() {
    if (article && window.confirm(`Delete the help page “${article.title}”? This cannot be undone.`))
      remove.mutate(article.id, { onSuccess: onDeleted });
  }

  return (
    <Card
      title={article ? 'Change the page' : 'New page'}
      action={
        onBack && (
          <Button variant="quiet" size="s" data-back icon={IconArrowLeft} stroke={2} onClick={onBack}>
            All help pages
          </Button>
        )
      }
    >
      <Form noValidate gap="4" error={write.error} busy={write.isPending} onSubmit={form.onSubmit(save)} onEdit={onEdited}>
        <ArticleFields form={form} />
        <Refusal error={Object.keys(form.errors).length === 0 ? (write.error ?? remove.error) : undefined} />
        <Row wrap={false} gap="3" className="help-form__end pad-row line-above">
          {article && (
            <Button variant="text" loading={remove.isPending} onClick={askAndRemove}>
              Delete
            </Button>
          )}
          <p role="status" className="sub push">
            {isSaved && !write.isPending && !write.isError && 'Saved.'}
            {isKept && 'Your earlier text is back. It isn’t saved yet.'}
          </p>
          <Submit>Save</Submit>
        </Row>
      </Form>
    </Card>
  );
}

function ArticleFields({ form }: { form: UseFormReturnType<ArticleWritten> }) {
  return (
    <>
      <Grid columns="2" phone="stack" gap="4">
        <TextInput
          label="Title"
          size="md"
          description="As customers would ask it."
          maxLength={120}
          {...form.getInputProps('title')}
        />
        <Textarea
          className="growing"
          rows={1}
          label="In one sentence"
          size="md"
          maxLength={240}
          description="Shown in lists and above the article."
          {...form.getInputProps('summary')}
        />
      </Grid>
      <BodyField value={form.values.body} error={form.errors['body']} onChange={(body) => form.setFieldValue('body', body)} />
      <Grid columns="2" phone="stack" gap="4" align="end">
        <TextInput
          label="Address"
          size="md"
          description="After /help/. Leave it empty to use the title."
          placeholder={slugOf(form.values.title)}
          {...form.getInputProps('slug')}
        />
        <Check
          label="Published: customers can find it, and the chat suggests it"
          {...form.getInputProps('is_published', { type: 'checkbox' })}
        />
      </Grid>
    </>
  );
}
