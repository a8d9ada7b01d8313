/**
 * Texts that WhatsApp itself writes into the export of a chat, by language, in lower case and without a full stop.
 *
 * Test: test/doors/import/formats/whatsapp.test.ts.
 */

/** Texts in place of a message that was deleted or has not arrived. */
export const WITHDRAWN: ReadonlySet<string> = new Set([
  'this message was deleted',
  'you deleted this message',
  'this message was deleted by admin',
  'waiting for this message. this may take a while',
  'diese nachricht wurde gelöscht',
  'du hast diese nachricht gelöscht',
  'ce message a été supprimé',
  'vous avez supprimé ce message',
  'se eliminó este mensaje',
  'este mensaje fue eliminado',
  'eliminaste este mensaje',
  'mensagem apagada',
  'essa mensagem foi apagada',
  'esta mensagem foi apagada',
  'você apagou esta mensagem',
  'questo messaggio è stato eliminato',
  'hai eliminato questo messaggio',
  'dit bericht is verwijderd',
  'je hebt dit bericht verwijderd',
  'u hebt dit bericht verwijderd',
  'bu mesaj silindi',
  'bu mesajı sildiniz',
  'данное сообщение удалено',
  'вы удалили данное сообщение',
  'ta wiadomość została usunięta',
  'usunięto tę wiadomość',
  // A view-once photo on Android.
  'null',
]);

/** Texts after the name of a file that the export contains: `IMG-1.jpg (file attached)`. */
export const ATTACHED: readonly string[] = [
  'file attached',
  'datei angehängt',
  'fichier joint',
  'archivo adjunto',
  'arquivo anexado',
  'ficheiro anexado',
  'file allegato',
  'bestand bijgevoegd',
  'dosya ekli',
  'файл добавлен',
  'plik dołączony',
];

/** Last words of the placeholder that iOS writes for a picture: `image omitted`. */
export const OMITTED: readonly string[] = [
  'omitted',
  'weggelassen',
  'absent',
  'absente',
  'omitido',
  'omitida',
  'ocultado',
  'ocultada',
  'omesso',
  'omessa',
  'weggelaten',
];

/** Notices of calls on Android; they follow the name of the caller. */
export const CALLS: ReadonlySet<string> = new Set([
  'missed voice call',
  'missed video call',
  'missed group voice call',
  'missed group video call',
  'verpasster sprachanruf',
  'verpasster videoanruf',
  'appel vocal manqué',
  'appel vidéo manqué',
  'llamada perdida',
  'videollamada perdida',
  'ligação de voz perdida',
  'ligação de vídeo perdida',
  'chiamata vocale persa',
  'videochiamata persa',
]);

/** Marks after an edited text, in angle brackets. */
export const EDITED: readonly string[] = [
  'this message was edited',
  'diese nachricht wurde bearbeitet',
  'ce message a été modifié',
  'se editó este mensaje',
  'mensagem editada',
  'questo messaggio è stato modificato',
  'dit bericht is bewerkt',
  'bu mesaj düzenlendi',
  'данное сообщение изменено',
  'wiadomość została edytowana',
];

/** Words of the file name before the name of the chat. */
export const CHAT_OF: readonly string[] = [
  'whatsapp chat with ',
  'whatsapp chat - ',
  'whatsapp-chat mit ',
  'whatsapp chat mit ',
  'whatsapp-chat - ',
  'discussion whatsapp avec ',
  'chat de whatsapp con ',
  'chat whatsapp con ',
  'conversa do whatsapp com ',
  'whatsapp-chat met ',
  'чат whatsapp с контактом ',
];

/** Whole words in lower case that only an assistant's name contains. */
export const ASSISTANT_WORDS: ReadonlySet<string> = new Set([
  'bot',
  'chatbot',
  'assistant',
  'assistent',
  'assistentin',
  'asistente',
  'assistente',
  'support',
  'kundenservice',
  'kundendienst',
  'helpdesk',
  'chatgpt',
]);
