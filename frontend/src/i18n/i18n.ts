import i18n from "i18next";
import { initReactI18next } from "react-i18next";
import { en } from "./en";

declare module "i18next" {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

void i18n.use(initReactI18next).init({
  lng: "en",
  fallbackLng: "en",
  resources: { en: { translation: en } },
  // React escapes by itself.
  interpolation: { escapeValue: false },
});

export default i18n;
