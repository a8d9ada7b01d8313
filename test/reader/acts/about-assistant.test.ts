import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findIn } from '../../../src/reader/acts/finding.ts';
import { loadHeads } from '../../../src/reader/acts/heads.ts';

const heads = loadHeads();
const found = (content: string): { kind: string; request: string } => {
  const { kind, request } = findIn({ role: 'user', content }, heads);
  return { kind, request };
};

const ASKED: Readonly<Record<string, readonly string[]>> = {
  'Questions to the assistant': [
    'are you a robot?',
    'hi! who made you',
    'What can you do?',
    'what is your name',
    'am I talking to a real person?',
  ],
  'Fragen zum Assistenten': ['Bist du ein Mensch?', 'wer hat dich programmiert', 'was kannst du'],
  'Preguntas sobre el asistente': ['¿Eres un robot?', 'cómo te llamas'],
  'Perguntas sobre o assistente': ['você é um robô?', 'quem te criou'],
  "Questions à l'assistant": ['Es-tu un robot ?', "qui t'a créé"],
  "Domande sull'assistente": ['sei un bot?', 'chi ti ha creato?'],
  'Vragen aan de assistent': ['ben je een robot', 'hoe heet je'],
  'Pytania o asystenta': ['czy jesteś robotem?', 'co potrafisz'],
  'Вопросы об ассистенте': ['ты бот?', 'кто тебя создал'],
  'Asistanla ilgili sorular': ['robot musun?', 'seni kim yaptı'],
  'أسئلة عن المساعد': ['هل أنت روبوت؟', 'من صنعك'],
  关于助手的问题: ['你是机器人吗', '谁创造了你'],
  アシスタントについての質問: ['あなたはロボットですか', 'お名前は何ですか'],
  '어시스턴트에 대한 질문': ['너는 로봇이야?', '누가 널 만들었어?'],
};

describe('requests to the assistant about itself', () => {
  for (const [request, texts] of Object.entries(ASKED)) {
    it(`are called ${request}`, () => {
      for (const text of texts) deepEqual(found(text), { kind: 'about-assistant', request }, text);
    });
  }

  it('are not what is asked of it, nor of others', () => {
    for (const text of [
      'agent please',
      'can I talk to a person',
      'what can you do about my broken lamp?',
      'where are you located?',
      'what is your phone number?',
      'was kannst du mir zu meinem Vertrag sagen',
      'who made the decision to close my account?',
      'are you a bot? my parcel is lost',
    ])
      equal(found(text).kind, 'request', text);
  });

  it('are not small talk', () => {
    for (const text of ['how are you?', 'tell me a joke', 'wie geht es dir', '在吗'])
      equal(found(text).kind, 'reply', text);
  });
});
