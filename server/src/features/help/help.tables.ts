export interface HelpTables {
  help_articles: {
    id: string;
    slug: string;
    title: string;
    summary: string;
    /** Markdown. */
    body: string;
    is_published: number;
    /** The body without Markdown marks, for the index. */
    words: string;
    updated_at: string;
  };
}

declare module '#platform/tables.ts' {
  interface Tables extends HelpTables {}
}
